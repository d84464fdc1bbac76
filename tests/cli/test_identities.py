"""Who is meant: namesakes are listed, aliases and mailmaps join, and a list can be of a range of commits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bot.cli.recomputing import offline
from bot.cli.recomputing.contributor_list import ListOptions, contributors
from bot.cli.recomputing.identities import PersonQuery
from bot.configuration.errors import UnusableInputError
from bot.landing.identity.mailmap import read_mailmaps
from bot.model.commit import Signature
from tests.history.repository import Repository

ADA = ("Ada Example", "ada@example.org")
ADA_TOO = ("Ada Example", "ada@home.example")
BEN = ("Ben Castor", "ben@castor.example")
MONTHS = offline.read_window(None, None, "UTC")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    found = Repository(tmp_path / "rocket")
    found.commit("feat: one", {"one.py": "x = 1\n"}, author=ADA)
    found.commit("feat: two", {"two.py": "x = 2\n"}, author=ADA)
    found.git("tag", "v1")
    found.commit("fix: three", {"three.py": "x = 3\n"}, author=ADA_TOO, days=40)
    found.commit("docs: four", {"four.md": "four\n"}, author=BEN, days=41)
    found.git("tag", "v2")
    return found


def listed(clone: Repository, **options: Any) -> list[tuple[str, int]]:
    rows = json.loads(contributors([str(clone.folder)], MONTHS, ListOptions(**options), form="json"))
    return [(row["display"], row["commits"]) for row in rows]


def changed(clone: Repository, *aliases: str, who: str = "Ada Example", mailmap: Path | None = None) -> list[Any]:
    asked = PersonQuery(who, aliases, mailmap)
    return [json.loads(line) for line in offline.changes([str(clone.folder)], asked, MONTHS, frozen=False)]


def test_a_name_of_two_identities_is_listed_with_what_to_do(
    clone: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnusableInputError, match=r"--author ada@example.org --alias ada@home.example"):
        changed(clone)
    assert capfd.readouterr().out.splitlines() == [
        "      2 commits  Ada Example <ada@example.org>",
        "      1 commits  Ada Example <ada@home.example>",
    ]
    assert len(changed(clone, who="ada@example.org")) == 2


def test_another_address_of_the_same_full_name_is_noted_with_how_to_join_it(
    clone: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    assert len(changed(clone, who="ada@example.org")) == 2
    assert capfd.readouterr().err == (
        "almanac: Ada Example also authored 1 commit under another address; "
        "if it is the same person, add --alias ada@home.example\n"
    )
    assert len(changed(clone, "ada@home.example", who="ada@example.org")) == 3
    assert not capfd.readouterr().err


def test_a_login_without_commits_fits_those_of_its_full_name_as_well(clone: Repository) -> None:
    noreply = "12+ada-ex@users.noreply.github.com"
    clone.commit(f"docs: five\n\nCo-authored-by: Ada Example <{noreply}>", {"five.md": "five\n"}, author=BEN, days=42)
    with pytest.raises(UnusableInputError, match=r"'ada-ex' fits 3 identities; .*--author ada@example.org --alias"):
        changed(clone, who="ada-ex")
    assert changed(clone, who=noreply) == []
    assert len(changed(clone, "ada@example.org", "ada@home.example", who="ada-ex")) == 3


def test_an_alias_joins_and_a_name_as_its_own_alias_joins_all_of_that_name(clone: Repository) -> None:
    assert len(changed(clone, "ada@home.example")) == 3
    assert len(changed(clone, "ada@home.example", who="ada@example.org")) == 3
    assert len(changed(clone, "Ada Example")) == 3
    with pytest.raises(UnusableInputError, match="fits 2 identities"):
        changed(clone, "Ada Example", who="Ben Castor")


def test_a_mailmap_file_joins(clone: Repository, tmp_path: Path) -> None:
    file = tmp_path / "people"
    file.write_text("# known\nAda E. <ada@example.org> <ada@home.example>\nAda E. <ada@example.org>\n")
    assert len(changed(clone, who="Ada E.", mailmap=file)) == 3
    assert listed(clone, mailmap=file) == [("Ada E.", 3), ("Ben Castor", 1)]
    with pytest.raises(UnusableInputError, match=r"--mailmap .* cannot be read"):
        changed(clone, mailmap=tmp_path / "absent")


def test_git_s_own_mailmap_settings_join(clone: Repository, tmp_path: Path) -> None:
    (clone.folder / "people").write_text("<ada@example.org> <ada@home.example>\n")
    clone.git("config", "mailmap.file", "people")
    assert listed(clone) == [("Ada Example", 3), ("Ben Castor", 1)]
    clone.git("config", "--unset", "mailmap.file")
    assert len(listed(clone)) == 3
    blob = clone.git("hash-object", "-w", "people").strip()
    clone.git("config", "mailmap.blob", blob)
    assert listed(clone) == [("Ada Example", 3), ("Ben Castor", 1)]


def test_a_setting_that_names_a_pipe_or_nothing_is_not_read(clone: Repository, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "absent", Path("/dev/zero")):
        clone.git("config", "mailmap.file", str(path))
        assert len(listed(clone)) == 3
    clone.git("config", "--unset", "mailmap.file")
    clone.git("config", "mailmap.blob", "HEAD:absent\nHEAD:one.py")
    assert len(listed(clone)) == 3


def test_rows_of_one_full_name_are_marked_and_can_be_joined(clone: Repository) -> None:
    table = contributors([str(clone.folder)], MONTHS, ListOptions(), form="table").splitlines()
    assert [line.endswith("Ada Example (this name has another row)") for line in table[1:4]] == [True, True, False]
    assert "--join-names" in table[-1]
    joined = json.loads(contributors([str(clone.folder)], MONTHS, ListOptions(join_names=True), form="json"))
    assert [(row["display"], row["commits"], row["active_months"]) for row in joined] == [
        ("Ada Example", 3, 2),
        ("Ben Castor", 1, 1),
    ]
    assert joined[0]["emails"] == ["ada@example.org", "ada@home.example"]


def test_a_range_counts_its_own_commits_and_tells_who_is_new(clone: Repository) -> None:
    assert listed(clone, commits="v1..v2") == [("Ada Example", 1), ("Ben Castor", 1)]
    assert listed(clone, commits="v1..") == [("Ada Example", 1), ("Ben Castor", 1)]
    assert listed(clone, commits="v1..v2", new=True) == [("Ada Example", 1), ("Ben Castor", 1)]
    assert listed(clone, commits="v2..v2", new=True) == []
    clone.commit("feat: five", {"five.py": "x = 5\n"}, author=ADA, days=50)
    assert listed(clone, commits="v2..HEAD", new=True) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"commits": "v1"}, "is no range"),
        ({"commits": "..v1"}, "is no range"),
        ({"commits": "v1...v2"}, "is no range"),
        ({"commits": "v1..v9"}, "'v9' is no tag or commit"),
        ({"commits": "--all..v1"}, "'--all' is no tag or commit"),
        ({"new": True}, "--range A..B"),
    ],
)
def test_a_wrong_range_is_refused_in_one_line(clone: Repository, options: dict[str, Any], words: str) -> None:
    with pytest.raises(UnusableInputError, match=words):
        listed(clone, **options)


def test_a_change_names_its_people_with_grade_and_part(clone: Repository) -> None:
    message = f"feat: six\n\nCo-authored-by: {BEN[0]} <{BEN[1]}>\nCo-authored-by: Cleo Dann <cleo@example.org>\n"
    message += "Co-authored-by: Claude <noreply@anthropic.com>"
    clone.commit(message, {"six.py": "x = 6\n"}, author=ADA, days=60)
    row = changed(clone, who="ada@example.org")[-1]
    assert row["people"] == [
        {"who": "Ada Example", "grade": "attributed", "part": {"role": "author", "commits": 1, "lines": 1}},
        {"who": "Ben Castor", "grade": "attributed", "part": {"role": "co-author", "commits": 0, "lines": 0}},
        {"who": "Cleo Dann", "grade": "claimed", "part": {"role": "co-author", "commits": 0, "lines": 0}},
    ]


def test_a_mailmap_is_read_as_git_reads_it() -> None:
    text = "Proper <p@x> Old <o@x>\n<q@x> <r@x>\nName Only <s@x>\nbroken\n# c <a@x>\n<u@x>\n"
    mailmap = read_mailmaps([text, "Later <later@x> <r@x>\n"])
    proper = [mailmap.proper(Signature(*one)) for one in (("old", "O@x"), ("Other", "o@x"), ("R", "r@x"), ("S", "s@x"))]
    assert [(sig.name, sig.email) for sig in proper] == [
        ("Proper", "p@x"),
        ("Other", "o@x"),
        ("Later", "later@x"),
        ("Name Only", "s@x"),
    ]
