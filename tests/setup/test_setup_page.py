"""Does set-up lead from nothing to a running bot: a one-time link, GitHub's manifest flow, and the same process?"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import html5lib
import pytest

from bot.configuration import credentials
from bot.configuration.credentials import Credentials
from bot.configuration.errors import UnusableInputError
from bot.configuration.settings import Settings, load_settings, with_credentials
from bot.configuration.values import github_address_of
from bot.setup import registration
from bot.setup.manifest import app_manifest
from bot.setup.pages import NewApp
from simulator.server import Simulator

from .running import Visitor, bare_settings, serving, until, visitor

SECRETS = ("private_key", "webhook_secret", "client_secret")


def link(told: str) -> str:
    """The path of the set-up page, from what the terminal shows."""
    found = re.search(r"http://127\.0\.0\.1:\d+(/setup/[\w-]{40,})", told)
    assert found, told
    return found[1]


async def ready(browser: Visitor) -> bool:
    """Whether the bot serves, and no longer the set-up page, which is ready too."""
    try:
        status, text, _ = await browser.get("/readyz")
        return status == 200 and "no App" not in text
    except OSError:
        return False


@pytest.mark.parametrize("organisation", ["fenland", ""])
async def test_a_process_without_credentials_becomes_a_running_bot(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str], organisation: str
) -> None:
    person = github.account("ada-fen", name="Ada Fen")
    settings = bare_settings(github, tmp_path / "data")
    async with serving(settings), visitor(settings) as browser:
        path = link(capsys.readouterr().out)
        status, text, at = await browser.registered(path, organisation, settings.github.web)
        assert status == 200, text
        (app,) = github.state.apps.values()
        assert app.owner is (github.organisation(organisation) if organisation else person)
        assert f"{github.url}/apps/{app.slug}/installations/new" in text
        await until(lambda: ready(browser))
        assert f"{github.url}/apps/{app.slug}/installations/new" in capsys.readouterr().out
        assert (await browser.get(path))[0] == 404, "the page dies once used"
        assert (await browser.get(at))[0] == 404
        assert app.slug == f"almanac-{organisation}".rstrip("-")
        github.install(app, app.owner)
        await github.wait_until_idle()
        assert [entry.status_code for entry in github.deliveries.log] == [202]
    kept = credentials.read(settings.data)
    assert kept is not None
    assert (kept.app_id, kept.private_key) == (str(app.id), app.private_key)
    assert stat.S_IMODE(credentials.path_in(settings.data).stat().st_mode) == 0o600


async def test_the_manifest_is_app_yml_with_our_addresses_and_the_form_may_go_to_github_alone(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bare_settings(github, tmp_path)
    async with serving(settings), visitor(settings) as browser:
        path = link(capsys.readouterr().out)
        action, manifest, headers = await browser.handed_over(path, "fenland", github.url)
    assert action.startswith(f"{github.url}/organizations/fenland/settings/apps/new?state=")
    assert manifest["hook_attributes"] == {"url": f"{settings.public_url}/webhook", "active": True}
    assert manifest["redirect_url"] == f"{settings.public_url}/setup/done"
    assert manifest["callback_urls"] == [f"{settings.public_url}/settings/signed-in"]
    assert manifest["name"] == "Almanac fenland"
    for name in ("description", "public", "default_permissions", "default_events"):
        assert manifest[name] == app_manifest()[name]
    policy = headers["Content-Security-Policy"]
    assert f"form-action 'self' {github.url} {settings.public_url};" in policy
    assert "default-src 'none'" in policy
    assert headers["Referrer-Policy"] == "same-origin"  # no other site receives the token either
    assert headers["Cache-Control"] == "no-store"


async def test_the_app_gets_the_name_that_was_asked_for_and_github_refuses_a_name_twice(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bare_settings(github, tmp_path)
    github.register_app("acme-almanac", github.organisation("acme"))
    async with serving(settings), visitor(settings) as browser:
        path = link(capsys.readouterr().out)
        for name, status in (("Acme  Almanac ", 422), ("Acme Almanac 2", 302)):
            action, manifest, _ = await browser.handed_over(path, "fenland", github.url, name=name)
            assert manifest["name"] == " ".join(name.split())
            assert (await browser.post(action, {"manifest": json.dumps(manifest)}))[0] == status


async def test_a_platform_sees_that_the_page_is_ready_for_whoever_registers_the_app(
    github: Simulator, tmp_path: Path
) -> None:
    settings = bare_settings(github, tmp_path)
    async with serving(settings), visitor(settings) as browser:
        assert [(await browser.get(probe))[0] for probe in ("/healthz", "/readyz", "/metrics")] == [200, 200, 404]


async def test_registration_on_an_enterprise_server_uses_its_own_address(github: Simulator, tmp_path: Path) -> None:
    settings = bare_settings(github, tmp_path, relay="https://channel.example/ours")
    form = registration.hand_over(settings, settings.public_url)
    handed = form(github_address_of("https://git.example.com/"), NewApp(), "a-state")
    assert handed.action == "https://git.example.com/settings/apps/new?state=a-state"
    assert handed.manifest["hook_attributes"]["url"] == "https://channel.example/ours"


async def test_without_the_token_nothing_is_served_and_wrong_responses_are_reported(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bare_settings(github, tmp_path)
    async with serving(settings), visitor(settings) as browser:
        path = link(capsys.readouterr().out)
        strange = [
            await browser.get(one) for one in ("/", "/setup/x", path + "x", path[:-1], "/setup/done", "/webhook")
        ]
        strange.append(await browser.get("/setup/done?code=abc&state=guess"))
        strange.append(await browser.get("/setup/%F0%9F%92%A5"))
        strange.append(await browser.post("/setup/x", {"github": github.url}))
        assert {(status, text) for status, text, _ in strange} == {(404, strange[0][1])}
        page = (await browser.get(path))[1]
        html5lib.HTMLParser(strict=True).parse(page)
        for form, words in (
            ({"github": "ftp://x", "organisation": ""}, "GitHub&#39;s address must be an address"),
            ({"github": "http://git.example.com", "organisation": ""}, "must use HTTPS"),
            (
                {"github": "https://git.example.com:99999", "organisation": ""},
                "GitHub&#39;s address must be an address",
            ),
            ({"github": github.url, "organisation": "a b/<i>"}, "not the name of an organisation"),
            ({"github": github.url, "name": "x" * 35}, "at most 34 characters"),
            ({"github": github.url, "name": "· ·"}, "needs letters or digits"),
        ):
            status, text, _ = await browser.post(path, form)
            assert (status, words in text) == (400, True), text
            assert "<i>" not in text
    assert github.requests == []
    assert not credentials.path_in(tmp_path).exists()


async def test_an_unknown_code_is_reported_and_the_page_remains(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bare_settings(github, tmp_path)
    async with serving(settings), visitor(settings) as browser:
        path = link(capsys.readouterr().out)
        action, _, _ = await browser.handed_over(path, "", github.url)
        state = parse_qs(urlsplit(action).query)["state"][0]
        status, text, _ = await browser.get(f"/setup/done?code=long-gone&state={state}")
        assert (status, "GitHub answered 404" in text) == (502, True)
        assert (await browser.registered(path, "", github.url))[0] == 200


async def test_a_brief_github_failure_is_retried_at_the_same_address(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bare_settings(github, tmp_path)
    github.faults.plan("500", "POST /app-manifests/*")
    async with serving(settings), visitor(settings) as browser:
        path = link(capsys.readouterr().out)
        status, text, at = await browser.registered(path, "", github.url)
        assert (status, "try again in a minute" in text, "used already" in text) == (502, True, False)
        assert (await browser.get(at))[0] == 200
    assert credentials.read(tmp_path) is not None


async def test_a_code_is_not_used_if_its_secrets_cannot_be_stored(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bare_settings(github, tmp_path / "data")
    async with serving(settings), visitor(settings) as browser:
        path = link(capsys.readouterr().out)
        credentials.save(settings.data, ONE)
        status, text, at = await browser.registered(path, "", github.url)
        assert (status, "move it away" in text) == (502, True)
        credentials.path_in(settings.data).unlink()
        assert (await browser.get(at))[0] == 200


async def test_an_unreadable_form_is_refused_as_a_bad_request(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bare_settings(github, tmp_path)
    async with serving(settings), visitor(settings) as browser:
        path = link(capsys.readouterr().out)
        for media in ("application/x-www-form-urlencoded; charset=no-such", "multipart/form-data; boundary=b"):
            sent = {"Content-Type": media}
            async with browser.session.post(browser.base + path, data=b"\xff", headers=sent) as answer:
                assert answer.status == 400


async def test_no_secret_is_printed_logged_or_shown(
    github: Simulator, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    settings = bare_settings(github, tmp_path)
    async with serving(settings), visitor(settings) as browser:
        first = capsys.readouterr()
        _, text, _ = await browser.registered(link(first.out), "", github.url)
        await until(lambda: ready(browser))
    kept = credentials.read(tmp_path)
    assert kept is not None
    told = capsys.readouterr()
    everything = first.out + first.err + told.out + told.err + text + caplog.text + repr(kept)
    assert [name for name in SECRETS if getattr(kept, name).strip() in everything] == []
    assert "BEGIN RSA" not in everything


# --- the file --------------------------------------------------------------------------------------------------------

ONE = Credentials("7", "almanac", "https://github.com/apps/almanac", "https://github.com", private_key="k", relay="")


def test_another_apps_file_is_never_overwritten(tmp_path: Path) -> None:
    credentials.save(tmp_path, ONE)
    before = credentials.path_in(tmp_path).read_bytes()
    other = Credentials("8", "other", "https://github.com/apps/other", "https://github.com")
    for attempt in (lambda: credentials.save(tmp_path, other), lambda: credentials.check_writable(tmp_path)):
        with pytest.raises(UnusableInputError, match="already"):
            attempt()
    assert credentials.path_in(tmp_path).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [credentials.FILE]


@pytest.mark.parametrize("content", ["", "[]", '{"app_id": 7}', "not json"])
def test_a_broken_file_is_reported_in_one_line(tmp_path: Path, content: str) -> None:
    credentials.path_in(tmp_path).write_text(content)
    with pytest.raises(UnusableInputError, match="restore it"):
        credentials.read(tmp_path)


def test_leftovers_of_a_killed_process_with_the_same_pid_do_no_harm(tmp_path: Path) -> None:
    for name in (credentials.FILE, f"{credentials.FILE}.trial"):
        (tmp_path / f"{name}.{os.getpid()}").write_text("half")
    credentials.check_writable(tmp_path)
    credentials.save(tmp_path, ONE)
    assert credentials.read(tmp_path) == ONE


@pytest.mark.skipif(os.geteuid() == 0, reason="NOT RUN AS ROOT, who may read everything")
def test_a_file_of_another_user_is_reported_with_what_to_do(tmp_path: Path) -> None:
    credentials.save(tmp_path, ONE)
    credentials.path_in(tmp_path).chmod(0o000)
    with pytest.raises(UnusableInputError, match="give the folder and what is in it to the user the bot runs as"):
        credentials.read(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="NOT RUN AS ROOT, who may write everywhere")
def test_a_read_only_folder_is_reported_before_github_is_asked(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UnusableInputError, match="cannot write"):
        credentials.check_writable(tmp_path)


def test_a_file_instead_of_the_folder_is_reported_before_github_is_asked(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    with pytest.raises(UnusableInputError, match="cannot write"):
        credentials.check_writable(tmp_path / "data")


def test_kept_credentials_fill_what_the_environment_leaves_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("ALMANAC_") or name == "PORT"]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    kept = Credentials(
        "7",
        "a",
        "https://g.example/apps/a",
        "https://g.example",
        "cid",
        "csecret",
        "PEM",
        "w" * 40,
        "https://c.example/x",
    )
    credentials.save(tmp_path / "almanac-data", kept)
    settings = load_settings(serving=True)
    assert (settings.app_id, settings.private_key, settings.webhook_secrets) == ("7", "PEM", ("w" * 40,))
    assert (settings.client_id, settings.client_secret, settings.relay) == ("cid", "csecret", "https://c.example/x")
    assert settings.github.api == "https://g.example/api/v3"
    monkeypatch.setenv("ALMANAC_WEBHOOK_SECRET", "v" * 40)
    monkeypatch.setenv("ALMANAC_GITHUB_URL", "https://github.com")
    settings = load_settings(serving=True)
    assert settings.webhook_secrets == ("v" * 40,)
    assert settings.github.api == "https://api.github.com"


def test_credentials_of_another_app_than_the_environments_are_not_used() -> None:
    assert with_credentials(Settings(app_id="8"), ONE) == Settings(app_id="8")


# --- without a browser on this machine -------------------------------------------------------------------------------


async def test_a_page_for_another_machine_and_a_pasted_address_register_the_app(
    github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = bare_settings(github, tmp_path / "data")
    page = registration.form_for_elsewhere(settings, NewApp("fenland"), "the-state")
    assert "<script" not in page
    found = re.search(r'action="([^"]+)"', page)
    assert found
    told = registration.hand_over(settings, settings.public_url)(settings.github, NewApp("fenland"), "the-state")
    async with visitor_of(github) as browser:
        status, _, headers = await browser.post(found[1], {"manifest": json.dumps(dict(told.manifest))})
    assert status == 302
    with pytest.raises(UnusableInputError, match="belongs to another page"):
        registration.code_in(headers["Location"], "another-state")
    code = registration.code_in(f"  {headers['Location']}\n", "the-state")
    made = await registration.register_by_code(settings, code)
    assert credentials.read(settings.data) == made
    with pytest.raises(UnusableInputError, match="already"):
        await registration.register_by_code(settings, code)
    with pytest.raises(UnusableInputError, match="GitHub answered 404"):
        await registration.register_by_code(bare_settings(github, tmp_path / "more"), code)


@pytest.mark.parametrize("pasted", ["", "two words", "http://127.0.0.1/setup/done?state=s", "../x"])
def test_an_invalid_code_is_reported(pasted: str) -> None:
    with pytest.raises(UnusableInputError):
        registration.code_in(pasted, "s")


def visitor_of(github: Simulator):
    from contextlib import asynccontextmanager

    import aiohttp

    @asynccontextmanager
    async def opened():
        async with aiohttp.ClientSession() as session:
            yield Visitor(session, github.url)

    return opened()
