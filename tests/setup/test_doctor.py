"""Does `almanac doctor` name each problem with what to do, and never call an unchecked thing correct?"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import make_url

from bot.cli.doctor import github, machine
from bot.cli.doctor.examine import examine
from bot.cli.doctor.findings import Finding
from bot.configuration.settings import Settings
from bot.configuration.values import GitHubAddress
from bot.setup.manifest import app_manifest
from bot.store.advice import database_advice
from bot.store.engine import Store
from bot.store.migrate import migrate
from simulator.demo import settings_for
from simulator.server import Simulator
from simulator.state import SimApp
from simulator.world import World, build_world
from tests.databases import database_url
from tests.simulator.calling import AT

__all__ = ["database_url"]


@pytest.fixture
def fit(github: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[SimApp, Settings]:
    """An App at GitHub and the settings of a bot that has it, with nothing wrong."""
    monkeypatch.chdir(tmp_path)
    world: World = build_world(github, AT)
    world.app.events = list(app_manifest()["default_events"])
    world.app.permissions = dict(app_manifest()["default_permissions"])
    settings = settings_for(github, world, tmp_path / "data", port=8099)
    world.app.webhook_url = f"{settings.public_url}/webhook"
    settings.data.mkdir(mode=0o700)
    return world.app, settings


async def report(settings: Settings, *, network: bool = True) -> dict[str, Finding]:
    return {finding.subject: finding for finding in await examine(settings, network=network)}


def states(found: dict[str, Finding]) -> set[str]:
    return {finding.subject for finding in found.values() if finding.state == "WRONG"}


async def test_a_correct_installation_has_no_problems(fit: tuple[SimApp, Settings]) -> None:
    _, settings = fit
    async with await Store.open(settings.database_url) as store:
        await migrate(store)
    found = await report(settings)
    assert states(found) == set()
    assert {"App", "key", "database", "disk", "git", "SQLite", "clock", "permissions", "events", "webhook"} <= set(
        found
    )
    assert found["database"].text.startswith("opens and is writable; its tables belong to this version")
    assert [line for line in map(str, found.values()) if "\n" in line] == []


Change = Callable[[SimApp, Settings], Settings | None]


def _event(app: SimApp, settings: Settings) -> None:
    app.events.remove("push")


def _permission(app: SimApp, settings: Settings) -> None:
    app.permissions["issues"] = "read"


def _hook(app: SimApp, settings: Settings) -> None:
    app.webhook_url = "https://elsewhere.example/webhook"


def _left_channel(app: SimApp, settings: Settings) -> Settings:
    return replace(settings, relay="http://127.0.0.1:9/channel")


def _other_app(app: SimApp, settings: Settings) -> Settings:
    return replace(settings, app_id="424242")


def _no_key(app: SimApp, settings: Settings) -> Settings:
    return replace(settings, private_key="-----BEGIN RSA PRIVATE KEY-----\nTk8=\n-----END RSA PRIVATE KEY-----\n")


def _no_database(app: SimApp, settings: Settings) -> None:
    (settings.data / "almanac.sqlite").write_text("a note that is longer than the head of a database file " * 9)


def _old_database(app: SimApp, settings: Settings) -> None:
    sqlite3.connect(settings.data / "almanac.sqlite").execute("CREATE TABLE other (x)").connection.close()


def _revision(app: SimApp, settings: Settings, number: str) -> None:
    database = sqlite3.connect(settings.data / "almanac.sqlite")
    database.execute("CREATE TABLE alembic_version (version_num TEXT)")
    database.execute("INSERT INTO alembic_version VALUES (?)", (number,))
    database.commit()
    database.close()


def _cut_database(app: SimApp, settings: Settings) -> None:
    path = settings.data / "almanac.sqlite"
    database = sqlite3.connect(path)
    database.executescript("CREATE TABLE other (x); INSERT INTO other VALUES (zeroblob(90000))")
    database.close()
    path.write_bytes(path.read_bytes()[:8192])


def _open_secret(app: SimApp, settings: Settings) -> None:
    (settings.data / "app.json").write_text("{}")
    (settings.data / "app.json").chmod(0o644)


def _plain_address(app: SimApp, settings: Settings) -> Settings:
    return replace(settings, public_url="http://almanac.example")


def _half(app: SimApp, settings: Settings) -> Settings:
    return replace(settings, webhook_secrets=())


@pytest.mark.parametrize(
    ("change", "subjects", "words"),
    [
        (_event, {"events"}, "subscribe to push"),
        (_permission, {"permissions"}, "grant issues: write"),
        (_hook, {"webhook"}, "https://elsewhere.example/webhook"),
        (_left_channel, {"webhook", "relay"}, "`relay` in"),
        (_other_app, {"permissions and events", "webhook", "deliveries"}, "number and key belong to the same App"),
        (_no_key, {"key", "permissions and events", "webhook", "deliveries"}, "make a new one"),
        (_no_database, {"database"}, "use another file"),
        (_old_database, {"database"}, "almanac migrate"),
        (partial(_revision, number="9999"), {"database"}, "install that version"),
        (partial(_revision, number="0013"), {"database"}, "name a new database"),
        (_cut_database, {"database"}, "restore a back-up"),
        (_open_secret, {"secrets"}, "chmod 600"),
        (_plain_address, {"address", "webhook"}, "put a TLS proxy in front"),
        (_half, {"App"}, "ALMANAC_WEBHOOK_SECRET"),
    ],
)
async def test_each_problem_is_named_with_what_to_do(
    fit: tuple[SimApp, Settings], change: Change, subjects: set[str], words: str
) -> None:
    app, settings = fit
    found = await report(change(app, settings) or settings)
    assert states(found) == subjects
    assert [finding.text for finding in found.values() if finding.state == "WRONG" and words in finding.text]


async def test_a_form_encoded_webhook_is_named(github: Simulator, fit: tuple[SimApp, Settings]) -> None:
    github.state.hook_content_type = "form"
    found = (await report(fit[1]))["webhook"]
    assert (found.state, "set the content type to application/json" in found.text) == ("WRONG", True)


async def test_the_last_delivery_says_whether_the_webhook_works(
    github: Simulator, fit: tuple[SimApp, Settings]
) -> None:
    app, settings = fit
    assert (await report(settings))["deliveries"].state == "note"
    app.webhook_url = "http://127.0.0.1:9/webhook"
    github.install(app, app.owner)
    await github.wait_until_idle()
    app.webhook_url = f"{settings.public_url}/webhook"
    found = (await report(settings))["deliveries"]
    assert (found.state, "answered 502" in found.text) == ("WRONG", True)


async def test_without_a_network_each_check_that_did_not_run_says_so(fit: tuple[SimApp, Settings]) -> None:
    _, settings = fit
    nowhere = replace(settings, github=GitHubAddress("http://127.0.0.1:9", "http://127.0.0.1:9", "http://127.0.0.1:9"))
    found = await report(nowhere, network=False)
    silent = {finding.subject for finding in found.values() if finding.state == "?"}
    assert silent == {"clock", "permissions", "events", "webhook", "deliveries"}
    assert all("NOT CHECKED" in found[subject].text for subject in silent)
    assert states(await report(nowhere)) == {"clock", "permissions and events", "webhook", "deliveries"}


async def test_on_postgresql_keys_that_several_machines_need_are_named_until_they_are_set(tmp_path: Path) -> None:
    alone = Settings(data=tmp_path, database_url="sqlite:///almanac.db")
    assert list(machine.check_shared_keys(alone)) == []
    shared = replace(alone, database_url="postgresql+psycopg://u:p@db/almanac")
    half, whole = (
        replace(shared, links_keys=(b"k" * 32,)),
        replace(shared, links_keys=(b"k" * 32,), snapshots_key="PEM"),
    )
    (neither,), (one,), (both,) = (list(machine.check_shared_keys(one)) for one in (shared, half, whole))
    assert (neither.state, one.state, both.state) == ("note", "note", "ok")
    assert "ALMANAC_LINKS_KEY and ALMANAC_SNAPSHOTS_KEY" in neither.text
    assert "ALMANAC_LINKS_KEY" not in one.text


async def test_an_installation_without_an_app_explains_how_to_get_one(github: Simulator, tmp_path: Path) -> None:
    found = await report(Settings(data=tmp_path, database_url=f"sqlite:///{tmp_path}/a.db"), network=False)
    assert "almanac serve" in found["App"].text
    assert found["key"].state == "?"


@pytest.mark.parametrize(("off", "state"), [(0, "ok"), (-20, "ok"), (-95, "WRONG"), (240, "WRONG")])
async def test_a_wrong_clock_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, off: int, state: str) -> None:
    async def theirs(endpoint: object) -> datetime:
        return datetime.now(UTC) - timedelta(seconds=off)

    monkeypatch.setattr(github, "read_clock", theirs)
    (finding,) = await github.check_clock(Settings(data=tmp_path))
    assert finding.state == state


async def test_a_database_in_use_by_a_running_bot_is_read_and_not_changed(fit: tuple[SimApp, Settings]) -> None:
    _, settings = fit
    async with await Store.open(settings.database_url) as store:
        await migrate(store)
        found = (await report(settings, network=False))["database"]
    assert (found.state, "in use by process" in found.text) == ("ok", True)


async def test_a_read_only_database_is_reported_although_transactions_can_begin(
    fit: tuple[SimApp, Settings], database_url: str
) -> None:
    settings = replace(fit[1], database_url=database_url)
    assert (await report(settings, network=False))["database"].state == "ok"
    if database_url.startswith("sqlite") and os.geteuid() == 0:
        pytest.skip("NOT RUN AS ROOT, who may write everywhere")
    found = (await report(replace(settings, database_url=_read_only(database_url)), network=False))["database"]
    assert found.state == "WRONG"
    assert "write" in found.text.partition(";")[2], "what to do"


async def test_a_failed_first_start_is_reported(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("in the way")
    data = tmp_path / "note" / "almanac-data"
    found = await report(Settings(data=data, database_url=f"sqlite:///{data}/almanac.db"), network=False)
    assert {"data", "database"} <= states(found)
    assert f"{tmp_path}/note is not writable" in found["data"].text


def _read_only(url: str) -> str:
    """The same database, where nothing may be written."""
    address = make_url(url)
    if url.startswith("sqlite"):
        Path(address.database or "").chmod(0o400)
        return url
    refused = address.update_query_dict({"options": "-c default_transaction_read_only=on"})
    return refused.render_as_string(hide_password=False)


def test_missing_postgresql_permissions_are_reported_with_what_to_do() -> None:
    refused = "(psycopg.errors.InsufficientPrivilege) permission denied for schema public"
    assert database_advice(refused) == f"{refused}; make the user that the bot connects as the owner of the database"
    assert database_advice("column x does not exist") is None, "a defect of ours is no matter of the operator's"


async def test_signing_is_measured_on_a_key_that_is_loaded(fit: tuple[SimApp, Settings]) -> None:
    _, settings = fit
    started = time.perf_counter()
    (finding,) = await machine.check_key(settings)
    assert finding.state in {"ok", "note"}
    assert "signs in" in finding.text
    assert time.perf_counter() - started < 5
