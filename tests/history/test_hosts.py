"""Does a clone know its server, and do only that server's addresses prove an account there?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli.recomputing.offline import profile, read_window
from bot.cli.recomputing.verify import verify
from bot.history.clone import host_of_remote
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.landing.identity.addresses import app_of, noreply, person_key
from bot.landing.identity.machines import is_machine, is_web_flow
from bot.model.commit import Signature
from tests.history.repository import Repository

GHE = "ghe.example.com"
THERE = ("Ada Brook", f"7+ada@users.noreply.{GHE}")
ELSEWHERE = ("Bea Moss", "7+bea@users.noreply.github.com")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://ghe.example.com/acme/rocket.git", GHE),
        ("https://token@ghe.example.com:8443/acme/rocket", "ghe.example.com:8443"),
        ("git@ghe.example.com:acme/rocket.git", GHE),
        ("ssh://git@ghe.example.com:2222/acme/rocket.git", GHE),
        ("https://acme.ghe.com/acme/rocket", "acme.ghe.com"),
        ("ssh://git@ssh.github.com:443/acme/rocket.git", "github.com"),
        ("https://www.github.com/acme/rocket", "github.com"),
        ("work:acme/rocket.git", "github.com"),
        ("/srv/git/rocket.git", "github.com"),
        ("file:///srv/git/rocket.git", "github.com"),
        ("", "github.com"),
    ],
)
def test_the_server_is_the_one_in_the_remotes_address(url: str, host: str) -> None:
    assert host_of_remote(url) == host


def test_an_address_of_another_servers_noreply_form_proves_nothing() -> None:
    assert person_key(Signature(*THERE, host=GHE)) == person_key(Signature(*ELSEWHERE)) == "u:7"
    assert person_key(Signature(*ELSEWHERE, host=GHE)) == "e:7+bea@users.noreply.github.com"
    assert person_key(Signature(*THERE)) == f"e:{THERE[1]}"
    assert noreply(THERE[1], f"{GHE}:8443") == (7, "ada")
    assert app_of(f"9+x[bot]@users.noreply.{GHE}") is None


def test_a_button_signs_as_the_server() -> None:
    pressed = Signature("GitHub Enterprise", f"noreply@{GHE}", host=GHE)
    assert is_web_flow(pressed)
    assert is_machine(pressed)
    assert not is_web_flow(Signature("GitHub", "noreply@github.com", host=GHE))
    assert is_web_flow(Signature("GitHub", "noreply@github.com", host="acme.ghe.com"))
    assert not is_web_flow(Signature("GitHub Enterprise", f"noreply@{GHE}"))


def test_a_machines_published_address_names_it_on_every_server_but_an_id_does_not() -> None:
    copilot = Signature("Copilot", "223556219+Copilot@users.noreply.github.com", host=GHE)
    assert is_machine(copilot)
    assert is_machine(Signature("", "", 223556219, "somebody"))
    assert not is_machine(Signature("Somebody", "", 223556219, "somebody", host=GHE))


def _rocket(folder: Path, host: str) -> Repository:
    made = Repository(folder, f"https://{host}/acme/rocket.git")
    made.commit("Add a parser\n\nCo-authored-by: Bea Moss <8+bea@users.noreply." + host + ">", {"a.py": "x = 1\n"})
    made.commit("Add a printer", {"b.py": "y = 1\n"}, author=THERE if host == GHE else ELSEWHERE)
    made.commit(f"Revert the parser\n\nReverts https://{host}/acme/rocket/pull/7", {"a.py": None})
    return made


def test_a_profile_of_another_server_links_there_and_verifies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    paths = [str(_rocket(tmp_path / "rocket", GHE).folder)]
    months = read_window(None, None, "UTC")
    text = "".join(profile(paths, "ada", months, form="json", anonymous=False))
    assert {change["url"].split("/")[2] for change in json.loads(text)["changes"]} == {GHE}
    assert json.loads(text)["contributor"]["login"] == "ada"
    assert "github.com" not in text
    assert verify(paths, text) == []


def test_one_user_id_of_two_servers_is_two_people(tmp_path: Path) -> None:
    here, there = _rocket(tmp_path / "here", "github.com"), _rocket(tmp_path / "there", GHE)
    clones = open_clones([there.folder, here.folder])
    record = CloneRecord(clones, cache=False)
    record.refresh(workers=1)
    authors = {person_key(fact.author) for fact in record.facts()}
    assert {"u:7", f"e:{THERE[1]}"} <= authors
    record.close()
