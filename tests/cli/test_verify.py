"""Does verification accept a profile that its clones confirm, and name the field that differs otherwise?"""

from __future__ import annotations

import json
import shutil
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.cli.operating.explain import from_clones
from bot.cli.recomputing.identities import PersonQuery
from bot.cli.recomputing.offline import changes, profile, read_window, record_of
from bot.cli.recomputing.verify import Verification, examine, examine_file, verify
from bot.configuration.errors import UnusableInputError
from bot.configuration.signing import signing_key
from bot.landing.corrections import Classification, apply_corrections
from bot.metrics.line_fates import own_commits
from bot.metrics.registry import METHOD_VERSION
from bot.narrative.profile import ProfileContext, ProfileScope, build
from bot.render.anonymity import apply_naming
from bot.render.text.json import profile_object
from tests.history.repository import ADA, BEN, Repository


@dataclass
class Published:
    """A clone and the profile that was published from it."""

    clone: Repository
    paths: list[str]
    text: str

    def changed(self, *path: Any, to: Any) -> str:
        """The profile with one value altered."""
        whole = json.loads(self.text)
        inner = whole
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = to
        return json.dumps(whole)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """For reading: all tests have the same one."""
    folder = tmp_path_factory.mktemp("published")
    clone = Repository(folder / "rocket")
    for number in range(1, 6):
        body = "".join(f"value_{number}_{line} = {line}\n" for line in range(12))
        clone.commit(f"Add stage {number} (#{number})", {f"stage{number}.py": body}, days=12)
    bad = clone.commit("Fix the valve", {"valve.py": "open = True\n"})
    clone.commit(f'Revert "Fix the valve"\n\nThis reverts commit {bad}.', {"valve.py": None}, author=BEN)
    paths = [str(clone.folder)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        months = read_window(None, None, "Europe/Vienna")
        text = "".join(profile(paths, "ada@example.org", months, form="json", anonymous=False))
    return Published(clone, paths, text)


def test_an_untouched_profile_has_no_difference(published: Published) -> None:
    assert verify(published.paths, published.text) == []


@pytest.mark.parametrize("field", ["id", "login", "name"])
@pytest.mark.parametrize("to", ["Somebody Else", 7, ["Ada Brook"]])
def test_a_name_unknown_to_the_clone_is_reported_as_the_publishers_claim(
    published: Published, field: str, to: object
) -> None:
    found = examine(published.paths, published.changed("contributor", field, to=to))
    assert found == Verification((), (f"contributor.{field} is {json.dumps(to)}",))


def test_a_file_without_a_signature_does_not_verify_as_signed(published: Published) -> None:
    with pytest.raises(UnusableInputError, match="not a snapshot"):
        verify(published.paths, published.text, keys="{}")


def test_later_landed_work_is_not_a_difference(
    published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.history.record.time", SimpleNamespace(time=lambda: 4_100_000_000))
    later = copy(published.clone)
    later.folder = Path(shutil.copytree(published.clone.folder, tmp_path / "rocket"))
    later.now = 4_000_000_000
    later.commit("Add what came later", {"later.py": "x = 1\n"})
    assert verify([str(later.folder)], published.text) == []


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (("overall", "commits"), "overall.commits"),
        (("overall", "lines", "tests"), "overall.lines.tests"),
        (("months", 0, "lines_of_code"), "months[2025-03].lines_of_code"),
        (("activity", 0, "commits"), "activity[2025-01-13].commits"),
        (("skills", "languages", 0, "lines"), "skills.languages[Python].lines"),
        (("repositories", 0, "commits"), "repositories[acme/rocket].commits"),
        (("changes", 1, "lines", "authored"), "changes[{id}].lines.authored"),
    ],
)
def test_one_altered_digit_is_named(published: Published, path: tuple[Any, ...], field: str) -> None:
    value = json.loads(published.text)
    for step in path:
        value = value[step]
    found = verify(published.paths, published.changed(*path, to=value + 1))
    field = field.replace("{id}", json.loads(published.text)["changes"][1]["id"])
    assert [one.field for one in found] == [field]
    assert str(found[0]) == f"{field}: published {value + 1}, recomputed {value}"


def _numbers(value: Any, *path: Any) -> list[tuple[Any, ...]]:
    """The paths of all numbers below a value."""
    if isinstance(value, dict):
        return [found for name, inner in value.items() for found in _numbers(inner, *path, name)]
    if isinstance(value, list):
        return [found for at, inner in enumerate(value) for found in _numbers(inner, *path, at)]
    return [path] if isinstance(value, int | float) and not isinstance(value, bool) else []


def test_no_number_of_the_whole_profile_can_be_altered_unseen(published: Published) -> None:
    whole = json.loads(published.text)
    paths = [path for path in _numbers(whole) if path[0] not in ("contributor", "generated_at")]
    assert len(paths) > 100
    for path in paths[::7]:
        assert verify(published.paths, published.changed(*path, to=987654)), path


def test_a_left_out_revert_and_an_altered_sentence_are_named(published: Published) -> None:
    whole = json.loads(published.text)
    place = next(at for at, row in enumerate(whole["changes"]) if row["state"] == "reverted")
    found = verify(published.paths, published.changed("changes", place, "state", to="landed"))
    assert [one.field.rpartition(".")[2] for one in found] == ["state"]
    found = verify(published.paths, published.changed("narrative", "text", to="The best of all."))
    assert [one.field for one in found] == ["narrative.text"]


def test_a_row_too_many_and_a_row_too_few_are_named(published: Published) -> None:
    rows = json.loads(published.text)["months"]
    short = verify(published.paths, published.changed("months", to=rows[1:]))
    assert [(one.field, one.published) for one in short] == [(f"months[{rows[0]['month']}]", "nothing")]
    more = verify(published.paths, published.changed("months", to=[*rows, {**rows[0], "month": "1999-01"}]))
    assert [(one.field, one.recomputed) for one in more] == [("months[1999-01]", "nothing")]
    turned = verify(published.paths, published.changed("months", to=rows[::-1]))
    assert [one.field for one in turned] == ["months, order"]


def test_an_anonymous_profile_is_verified_by_its_commits(published: Published) -> None:
    months = read_window(None, None, "UTC")
    text = "".join(profile(published.paths, "ada@example.org", months, form="json", anonymous=True))
    assert "Ada" not in text
    assert verify(published.paths, text) == []


def test_a_snapshot_is_verified_with_its_signature(published: Published, tmp_path: Path) -> None:
    key = signing_key(tmp_path / "key.pem")
    keys = json.dumps({"keys": key.public_entries()})
    text = published.text
    sealed = {"schema": "almanac.snapshot/1", "key": key.id, "signature": key.sign(text), "profile": text}
    assert verify(published.paths, json.dumps(sealed), keys=keys) == []
    forged = sealed | {"profile": published.changed("overall", "commits", to=99)}
    assert [one.field for one in verify(published.paths, json.dumps(forged), keys=keys)] == [
        "signature",
        "overall.commits",
    ]
    (tmp_path / "snapshot.json").write_text(json.dumps(sealed))
    (tmp_path / "keys.json").write_text(keys)
    assert examine_file(published.paths, tmp_path / "snapshot.json", keys=tmp_path / "keys.json") == Verification(
        (), ()
    )


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "almanac.profile/1"}', "{" * 5000, '{"schema": 3}'])
def test_a_file_that_is_not_a_profile_is_reported_in_one_line(published: Published, text: str) -> None:
    with pytest.raises(UnusableInputError) as told:
        verify(published.paths, text)
    assert "\n" not in str(told.value)


def test_a_repository_without_a_clone_is_named(published: Published) -> None:
    rows = json.loads(published.text)["repositories"]
    text = published.changed("repositories", to=[*rows, rows[0] | {"full_name": "acme/moon"}])
    with pytest.raises(UnusableInputError, match="acme/moon"):
        verify(published.paths, text)
    with pytest.raises(UnusableInputError, match="cannot be read"):
        examine_file(published.paths, Path(published.paths[0]) / "nothing.json")


# --- what the publisher states ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A clone of three pull requests that the button squashed, for reading."""
    clone = Repository(tmp_path_factory.mktemp("merged") / "rocket")
    for number in range(1, 4):
        (clone.folder / f"stage{number}.py").write_text(f"stage = {number}\n" * 9)
        clone.now += 12 * 86_400
        clone.git("add", "-A")
        title = f"Add stage {number} (#{number})"
        clone.git("commit", "-q", "-m", title, author=ADA, committer=("GitHub", "noreply@github.com"))
    return [str(clone.folder)]


def _corrected(paths: list[str], *, anonymous: bool = False) -> dict[str, Any]:
    """The profile as it is published where somebody said that the first pull request mended something."""
    with record_of(paths) as record:
        persons = record.people.find("ada@example.org")
        changes = apply_corrections(
            record.changes_of(persons), [Classification("acme/rocket", 1, "bug_fix", "its author")]
        )
        scope = ProfileScope(
            person=persons[0],
            keys=record.keys_of(persons),
            zone=ZoneInfo("UTC"),
            now=datetime(2031, 1, 1, tzinfo=UTC),
            naming="anonymous" if anonymous else "named",
        )
        lines = own_commits(record.all_changes(), record.line_record(), scope.zone)
        whole = build(changes, scope, ProfileContext(lines, everybody=True))
        return profile_object(apply_naming(whole, changes, scope))


def _change(whole: dict[str, Any], number: int) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in whole["changes"] if row["pull_request"] == number)
    return found


@pytest.mark.parametrize("anonymous", [False, True])
def test_a_correction_is_applied_as_stated_and_reported(merged: list[str], anonymous: bool) -> None:
    whole = _corrected(merged, anonymous=anonymous)
    assert _change(whole, 1)["kind"] == "bug_fix"
    found = examine(merged, json.dumps(whole))
    assert found.differences == ()
    (line,) = found.stated
    with record_of(merged) as record:
        own = next(c for c in record.changes_of(record.people.find("ada@example.org")) if c.pull_request == 1).kind
    assert own != "bug_fix"
    told = "changes[acme/rocket#1].kind is bug_fix, classified by its author; the clone says "
    assert line.startswith(f"{told}{own} (")


def test_a_forged_correction_is_reported_because_the_counts_differ(merged: list[str]) -> None:
    whole = _corrected(merged)
    _change(whole, 2).update(kind="bug_fix", certain=True, why="classified by \x1b[2Jnobody: correction")
    found = examine(merged, json.dumps(whole))
    assert [line.partition(";")[0] for line in found.stated] == [
        "changes[acme/rocket#1].kind is bug_fix, classified by its author",
        "changes[acme/rocket#2].kind is bug_fix, classified by [2Jnobody",
    ]
    assert "overall.bugs" in {one.field for one in found.differences}


@pytest.mark.parametrize(("field", "value"), [("kind", "perf"), ("why", "classified by nobody"), ("repository", "a/b")])
def test_an_uncorrected_value_is_a_difference(merged: list[str], field: str, value: Any) -> None:
    whole = _corrected(merged)
    _change(whole, 1)[field] = value
    found = examine(merged, json.dumps(whole))
    assert found.stated == ()
    assert "changes[acme/rocket#1].kind" in {one.field for one in found.differences}


def test_github_only_values_are_reported_and_not_compared(published: Published) -> None:
    whole = json.loads(published.text)
    whole["months"][0]["live"] = {"reviews": {"given": 3}}
    assert examine(published.paths, json.dumps(whole)) == Verification(
        (),
        (f"months[{whole['months'][0]['month']}].live.reviews.given is 3",),
    )


# --- non-code activity -----------------------------------------------------------------------------------------------


def test_a_clone_shows_first_contributions_and_documentation_and_verifies_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    clone = Repository(tmp_path / "rocket")
    clone.commit("Add stage 1 (#1)", {"stage.py": "x = 1\n"}, author=BEN)
    clone.commit("Add stage 2 (#2)", {"stage2.py": "x = 1\n"}, days=40)
    clone.commit("Describe both (#3)", {"docs/stages.md": "Two stages.\n"}, days=40)
    paths = [str(clone.folder)]
    text = "".join(profile(paths, "ada@example.org", read_window(None, None, "UTC"), form="json", anonymous=False))
    found = json.loads(text)
    first, second = (change["id"] for change in found["changes"])
    assert [month["beside_code"] for month in found["months"]] == [
        {"documentation": {"changes": 1, "evidence": [second]}},
        {"first_contributions": {"repositories": 1, "evidence": [first]}},
    ]
    summed = {"documentation": {"changes": 1}, "first_contributions": {"repositories": 1}}
    assert found["overall"]["beside_code"] == summed
    assert not any("live" in row for row in (found["overall"], *found["months"]))
    assert verify(paths, text) == []
    since = read_window(found["months"][0]["month"], None, "UTC")
    shown = json.loads("".join(profile(paths, "ada@example.org", since, form="json", anonymous=False)))
    assert "first_contributions" not in shown["overall"]["beside_code"]


@pytest.mark.parametrize("anonymous", [False, True])
def test_first_contributions_are_unknown_where_the_publisher_knew_a_part_of_the_history(
    published: Published, anonymous: bool
) -> None:
    months = read_window(None, None, "UTC")
    whole = json.loads("".join(profile(published.paths, "ada@example.org", months, form="json", anonymous=anonymous)))
    assert whole["months"][-1]["beside_code"].pop("first_contributions")
    assert whole["overall"]["beside_code"].pop("first_contributions")
    for row in (whole["months"][-1], whole["overall"]):
        if not row["beside_code"]:
            del row["beside_code"]
    assert {one.field for one in examine(published.paths, json.dumps(whole)).differences} == {
        "overall.beside_code",
        f"months[{whole['months'][-1]['month']}].beside_code",
    }
    whole["repositories"][0]["whole_history"] = False
    assert examine(published.paths, json.dumps(whole)).differences == ()


def test_non_code_activity_is_reported_as_numbers_and_not_compared(published: Published) -> None:
    whole = json.loads(published.text)
    row = {
        "repository": "acme/rocket",
        "name": "#7",
        "did": ["closed"],
        "url": "https://github.com/acme/rocket/issues/7",
    }
    whole["overall"]["live"] = {
        "triage": {"issues": 2},
        "months": {"1999-01": {"triage": {"issues": 2, "evidence": [row]}}},
    }
    whole["months"][0]["live"] = {"releases": {"published": 1, "evidence": [row]}}
    assert examine(published.paths, json.dumps(whole)) == Verification(
        (),
        (
            "overall.live.triage.issues is 2",
            "overall.live.months.1999-01.triage.issues is 2",
            f"months[{whole['months'][0]['month']}].live.releases.published is 1",
        ),
    )


@pytest.fixture(scope="module")
def namesakes(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two addresses that nothing joins, of one name; somebody who was only credited, beside an author of more."""
    clone = Repository(tmp_path_factory.mktemp("namesakes") / "rocket")
    for number in range(6):
        who = (ADA, ("Ada Brook", "ada@work.example"))[number % 2]
        clone.commit(f"Step {number}", {f"{number}.py": "x = 1\n"}, author=who, days=20)
    credit = "\n\nCo-authored-by: Cleo Dorn <cleo@example.org>"
    for number in range(6, 8):
        clone.commit(f"Step {number}{credit}", {f"{number}.py": "x = 1\n"}, author=BEN, days=20)
    clone.commit("Step 8", {"8.py": "x = 1\n"}, author=BEN)
    return [str(clone.folder)]


@pytest.mark.parametrize("anonymous", [False, True])
@pytest.mark.parametrize("who", ["ada@example.org", "ada@work.example", "Ada Brook", "cleo@example.org", "Ben Castor"])
def test_the_profiles_person_is_distinguished_from_namesakes_and_co_authors(
    namesakes: list[str], who: str, anonymous: bool
) -> None:
    asked = PersonQuery(who, (who,))  # a name of two identities stands for both
    text = "".join(profile(namesakes, asked, read_window(None, None, "UTC"), form="json", anonymous=anonymous))
    assert verify(namesakes, text) == []
    whole = json.loads(text)
    whole["overall"]["commits"] += 1
    assert "overall.commits" in {difference.field for difference in verify(namesakes, json.dumps(whole))}


@pytest.mark.parametrize(("since", "until"), [("2025-03", None), (None, "2025-03"), ("2025-02", "2025-04")])
def test_a_profile_of_some_months_says_which_and_is_verified_by_them(
    namesakes: list[str], since: str | None, until: str | None
) -> None:
    asked = PersonQuery("Ada Brook", ("Ada Brook",))
    text = "".join(profile(namesakes, asked, read_window(since, until, "UTC"), form="json", anonymous=False))
    whole = json.loads(text)
    assert (whole["method"].get("since"), whole["method"].get("until")) == (since, until)
    assert verify(namesakes, text) == []
    whole["method"]["since"] = "2025-01"
    whole["method"].pop("until", None)
    assert verify(namesakes, json.dumps(whole))
    whole["method"]["since"] = "spring"
    with pytest.raises(UnusableInputError):
        verify(namesakes, json.dumps(whole))


def test_a_squash_of_two_in_a_clone_goes_to_its_author_with_parts_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    clone = Repository(tmp_path / "rocket")
    clone.commit("Add a wick (#1)", {"wick.py": "wick = 1\n"}, author=BEN)
    body = "".join(f"lamp_{line} = {line}\n" for line in range(40))
    clone.commit(f"Add a lamp (#2)\n\nCo-authored-by: {BEN[0]} <{BEN[1]}>", {"lamp.py": body})
    clone.git("checkout", "-q", "-b", "horn")
    clone.commit("Add a horn", {"horn.py": "horn = 1\n" * 30})
    clone.commit("Fix the horn", {"tune.py": "tune = 1\n" * 2}, author=BEN)
    clone.git("checkout", "-q", "main")
    clone.merge("horn", "Merge pull request #3 from ada/horn\n\nAdd a horn")
    paths, months = [str(clone.folder)], read_window(None, None, "UTC")
    rows = [json.loads(line) for line in changes(paths, PersonQuery(), months, frozen=False)]
    parts = [[(one["who"], one["grade"], one["part"]["lines"]) for one in row["people"]] for row in rows]
    assert [row["parts_unknown"] for row in rows] == [False, True, False]
    assert parts[1:] == [
        [("Ada Brook", "attributed", 40), ("Ben Castor", "attributed", 0)],
        [("Ada Brook", "attributed", 30), ("Ben Castor", "attributed", 2)],
    ]
    text = "".join(profile(paths, BEN[1], months, form="json", anonymous=False))
    shown = json.loads(text)["changes"]
    assert [row.get("parts_unknown", False) for row in shown] == [False, True, False]
    assert [row["own_lines"] for row in shown] == [1, 0, 2]
    assert json.loads(text)["overall"]["lines"]["total"] == 3
    assert verify(paths, text) == []
    for form, told in (("html", "2 of 32 lines"), ("text", "2 of 32 lines")):
        assert told in "".join(profile(paths, BEN[1], months, form=form, anonymous=False))
    for form in ("html", "text", "markdown"):
        assert "parts unknown" in "".join(profile(paths, ADA[1], months, form=form, anonymous=False))
    why = from_clones(paths, ADA[1], "credit", "UTC").text()
    assert "It is attributed: author of a landed commit. Parts unknown: several people wrote a commit of it" in why


def test_another_method_s_profile_is_refused_with_both_versions(published: Published) -> None:
    with pytest.raises(
        UnusableInputError, match=f'method version "99", and this program computes version {METHOD_VERSION}'
    ):
        examine(published.paths, published.changed("method", "version", to="99"))
