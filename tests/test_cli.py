"""What does somebody at a terminal get: the answer and exit 0, or one line that says what to do and exit 2?"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from importlib.metadata import version
from pathlib import Path

import jsonschema
import pytest
from msgspec import Struct

from bot.cli.main import main
from bot.cli.recomputing import offline
from bot.metrics import METHOD_VERSION
from tests.history.repository import Repository

FORMS = ("json", "text", "markdown", "html", "svg", "csv", "atom", "jsonresume")
SCHEMA = json.loads((Path(__file__).parents[1] / "bot/render/profile.schema.json").read_text("utf-8"))
ADA = ("Ada Brook", "90125+brookside@users.noreply.github.com")
ADA_TOO = ("Ada Brook", "ada.brook@fen.example")
BEN = ("Ben Castor", "ben@castor.example")
MAILMAP = "Ada Brook <90125+brookside@users.noreply.github.com> <ada.brook@fen.example>\n"


class Answer(Struct, frozen=True):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Answer]


class _Noon(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> _Noon:
        return cls(2026, 2, 1, 12, tzinfo=UTC)


@pytest.fixture
def almanac(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> Command:
    """Calls a command in this process, away from the settings and the cache of the machine, at one fixed time."""
    for name in [name for name in os.environ if name.startswith("ALMANAC_") or name == "PORT"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(offline, "datetime", _Noon)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: bytes = b"", **settings: str) -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Answer(int(str(ended.value.code or 0)), out.decode(), err.decode())

    return run


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two small repositories of the same people: a feature, a fix of it, a revert, and somebody else's work."""
    folder = tmp_path_factory.mktemp("clones")
    rocket = Repository(folder / "rocket")
    rocket.commit("Begin", {".mailmap": MAILMAP, "README.md": "rocket\n"}, author=BEN)
    rocket.commit("feat: count down aloud", {"src/count.py": "def count():\n    return 10\n"}, author=ADA)
    rocket.commit("fix: stop at zero", {"src/count.py": "def count():\n    return range(10, -1, -1)\n"}, author=ADA)
    trailer = f"\n\nCo-authored-by: {BEN[0]} <{BEN[1]}>\nSigned-off-by: {ADA[0]} <{ADA_TOO[1]}>"
    fins = rocket.commit("Paint the fins" + trailer, {"src/fins.py": "COLOUR = 'red'\n"}, author=ADA_TOO, days=40)
    rocket.git("revert", "--no-edit", fins, author=BEN)
    pad = Repository(folder / "pad", "git@github.com:acme/pad.git")
    pad.commit("Level the ground", {".mailmap": MAILMAP, "pad.go": "package pad\n\nfunc Level() {}\n"}, author=ADA_TOO)
    return str(rocket.folder), str(pad.folder)


def assert_refused(answer: Answer, *words: str) -> None:
    """Exit 2, nothing on standard output, one line on stderr that holds these words, no traceback."""
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("almanac: ")
    assert answer.err.count("\n") == 1, answer.err
    assert "Traceback" not in answer.err
    for word in words:
        assert word in answer.err


# --- bad input -------------------------------------------------------------------------------------------------------


def unusable(folder: Path, name: str) -> str:
    """A folder that is no whole clone, by what is wrong with it."""
    if name == "a repository without commits":
        return str(Repository(folder / "empty").folder)
    (folder / "folder").mkdir()
    (folder / "file").write_text("no folder\n")
    return str(folder / {"no folder": "absent", "a file": "file", "no repository": "folder"}[name])


@pytest.mark.parametrize("command", ["profile", "contributors", "changes"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no folder", "no such folder"),
        ("a file", "no such folder"),
        ("no repository", "not a git repository"),
        ("a repository without commits", "no commits yet"),
    ],
)
def test_an_incomplete_clone_is_named(almanac: Command, tmp_path: Path, command: str, name: str, words: str) -> None:
    path = unusable(tmp_path, name)
    who = ["--author", "Ada Brook"] if command == "profile" else []
    assert_refused(almanac(command, path, *who), path, words)


@pytest.mark.parametrize("command", ["profile", "changes"])
def test_an_unknown_person_gets_the_nearest_name(almanac: Command, clones: tuple[str, str], command: str) -> None:
    assert_refused(almanac(command, *clones, "--author", "Ada Brok"), "'Ada Brok'", "did you mean 'Ada Brook'?")
    assert_refused(almanac(command, *clones, "--author", "Zyx"), "'Zyx'", "almanac contributors")
    assert_refused(almanac(command, *clones, "--author", ""), "almanac contributors")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--since", "2025-13"], "--since '2025-13' is not a month"),
        (["--until", "June"], "--until 'June' is not a month"),
        (["--since", "2025-7"], "write it as 2025-06"),
        (["--since", "２０２５-07"], "write it as 2025-06"),
        (["--since", "2025-12", "--until", "2025-01"], "lies after"),
        (["--timezone", "Mars/Phobos"], "not an IANA time zone"),
        (["--timezone", "../../etc/localtime"], "not an IANA time zone"),
        (["--timezone", ""], "not an IANA time zone"),
        (["--format", "pdf"], "none of json, text, markdown, html, csv"),
        (["--format", "markdwon"], "did you mean markdown?"),
        (["--format", "json", "--width", "400"], "--width: only the card"),
        (["--format", "svg", "--width", "12"], "--width: it is a number of pixels from 320 to 1200"),
        (["--format", "badge", "--hide", "Python"], "--hide: 'Python' is none of label, commits, features"),
        (["--as", "somebody"], "none of named, anonymous"),
        (["--output", "absent/profile.txt"], "cannot write absent/profile.txt"),
        (["--output", "."], "cannot write ."),
        (["--colour"], "No such option: --colour; see: almanac profile --help"),
    ],
)
def test_a_bad_option_of_profile_is_named(
    almanac: Command, clones: tuple[str, str], options: list[str], words: str
) -> None:
    assert_refused(almanac("profile", *clones, "--author", "Ada Brook", *options), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["profile", "."], "Missing option '--author'"),
        (["contributors"], ".: not a git repository"),
        (["contributors", ".", "--format", "xml"], "none of table, json, csv"),
        (["contributors", ".", "--timezone", "Nowhere"], "not an IANA time zone"),
        (["changes"], ".: not a git repository"),
        (["changes", ".", "--timezone", "Nowhere"], "not an IANA time zone"),
        (["classify", "message"], "unexpected extra argument"),
        (["verify", "."], "Missing option '--profile'"),
        (["verify", ".", "--profile", "absent.json"], "absent.json cannot be read: No such file"),
        (["jobs", "show", "99999999999999999999"], "not in the range"),
        (["config", "lint"], "Missing argument 'FILE'"),
        (["config", "lint", "absent.yml"], "absent.yml"),
        (["demo", "twice"], "unexpected extra argument"),
        (["migrate", "back"], "unexpected extra argument"),
        (["proflie"], "No such command 'proflie'"),
    ],
)
def test_a_bad_command_line_prints_where_help_is(almanac: Command, arguments: list[str], words: str) -> None:
    assert_refused(almanac(*arguments), words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"fix: this is no JSON", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'["fix: a list"]', "an object"),
        (b"{}", '"message" is missing'),
        (b'{"message": 7}', '"message" is not a text'),
        (b'{"message": "m", "files": 7}', '"files"'),
        (b'{"message": "m", "files": [7]}', '"files"'),
        (b'{"message": "m", "diff": []}', '"diff" is not a text'),
    ],
)
def test_a_line_that_cannot_be_classified_is_named_by_its_number(almanac: Command, line: bytes, words: str) -> None:
    answer = almanac("classify", stdin=b'{"message": "fix: first"}\n\n' + line + b"\n")
    assert answer.out.count("\n") == 1, "the lines before it are answered"
    assert_refused(Answer(answer.code, "", answer.err), "line 3", words)


# --- settings --------------------------------------------------------------------------------------------------------


def test_the_version_is_printed_with_that_of_the_definitions(almanac: Command) -> None:
    told = almanac("--version")
    assert (told.code, told.err) == (0, "")
    assert told.out == f"almanac {version('contributor-almanac')}, definitions {METHOD_VERSION}\n"


def test_every_missing_setting_is_reported_at_once_one_line_each(almanac: Command) -> None:
    answer = almanac("worker")
    assert (answer.code, answer.out) == (2, "")
    names = [line.removeprefix("almanac: ").partition(":")[0] for line in answer.err.splitlines()]
    assert names == ["ALMANAC_APP_ID", "ALMANAC_PRIVATE_KEY", "ALMANAC_WEBHOOK_SECRET"]


def test_incomplete_app_credentials_are_reported_and_no_app_is_registered(almanac: Command) -> None:
    answer = almanac("serve", ALMANAC_APP_ID="7")
    assert (answer.code, answer.out) == (2, "")
    names = [line.removeprefix("almanac: ").partition(":")[0] for line in answer.err.splitlines()]
    assert names == ["ALMANAC_PRIVATE_KEY", "ALMANAC_WEBHOOK_SECRET"]


@pytest.mark.parametrize("channel", ["smee.io/x", "http://smee.example/x", "https://smee.example/"])
def test_an_invalid_relay_url_is_reported_in_one_line(almanac: Command, channel: str) -> None:
    assert_refused(almanac("serve", "--relay", channel), "--relay must")


def test_a_process_that_only_accepts_is_refused_on_sqlite(almanac: Command) -> None:
    assert_refused(almanac("serve", "--no-work"), "--no-work needs PostgreSQL")


def test_every_wrong_setting_is_reported_and_no_secret_is_shown(almanac: Command) -> None:
    answer = almanac(
        "serve",
        ALMANAC_APP_ID="seven",
        ALMANAC_PRIVATE_KEY="not-a-key-3b1f",
        ALMANAC_WEBHOOK_SECRET="short-9c2e",
        ALMANAC_DATABASE_URL="mysql://ada:pass-77aa@host/db",
        ALMANAC_PORT="99999",
        ALMANAC_TIMEZONE="Mars/Phobos",
        ALMANAC_LINKS_KEY="digits-4d5e",
        ALMANAC_SNAPSHOTS_KEY="not-a-key-6f7a",
    )
    assert answer.code == 2
    assert len(answer.err.splitlines()) == 8
    assert all(line.startswith("almanac: ALMANAC_") for line in answer.err.splitlines())
    for secret in ("3b1f", "9c2e", "77aa", "4d5e", "6f7a"):
        assert secret not in answer.err


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://host/name", "must start with sqlite:// or postgresql://"),
        ("sqlite:///note.txt", "not a database"),
        ("sqlite:////proc/almanac/a.db", "/proc/almanac"),
        ("postgresql://127.0.0.1:1/almanac", "the database cannot be used"),
    ],
)
def test_an_unusable_database_is_reported_in_one_line(almanac: Command, tmp_path: Path, url: str, words: str) -> None:
    (tmp_path / "note.txt").write_text("a note that is longer than the head of a database file " * 9)
    assert_refused(almanac("migrate", ALMANAC_DATABASE_URL=url), words)


@pytest.mark.parametrize("command", ["export ada", "jobs list", "jobs cancel 1", "explain ada lines", "rebuild"])
def test_no_database_is_created_where_the_bot_never_ran(almanac: Command, tmp_path: Path, command: str) -> None:
    assert_refused(almanac(*command.split()), "no database at almanac-data/almanac.db", "ALMANAC_DATA")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("ending", "code", "told"),
    [(">/dev/full", 2, "almanac: cannot write: No space left on device\n"), (">&-", 0, ""), ("2>&- <&-", 0, "")],
)
def test_a_full_disk_is_reported_in_one_line_and_a_closed_stream_is_not_an_error(
    ending: str, code: int, told: str
) -> None:
    ended = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m bot --version {ending}"], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (code, told)


def test_a_closed_pipe_is_not_reported_as_a_difference() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([sys.executable, "-m", "bot", "--help"], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_migrating_twice_is_migrating_once(almanac: Command, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new' / 'almanac.db'}"
    first, second = almanac("migrate", ALMANAC_DATABASE_URL=url), almanac("migrate", ALMANAC_DATABASE_URL=url)
    assert (first.code, first.out, second.code, second.out) == (0, "", 0, "")
    assert (tmp_path / "new" / "almanac.db").stat().st_size > 0


def test_a_database_of_an_unreleased_version_is_refused_with_what_to_do(almanac: Command, tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "old.db")
    database.executescript(
        "CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('0013')"
    )
    database.close()
    answer = almanac("migrate", ALMANAC_DATABASE_URL=f"sqlite:///{tmp_path / 'old.db'}")
    assert_refused(answer, "name a new database", "almanac backfill")


# --- good runs -------------------------------------------------------------------------------------------------------


def test_a_profile_as_json_satisfies_its_schema_and_counts(almanac: Command, clones: tuple[str, str]) -> None:
    answer = almanac("profile", *clones, "--author", "Ada Brook", "--format", "json")
    assert (answer.code, answer.err) == (0, "")
    profile = json.loads(answer.out)
    jsonschema.validate(profile, SCHEMA)
    overall = profile["overall"]
    assert [overall[name] for name in ("commits", "features", "bugs", "active_months")] == [4, 1, 1, 2]
    assert overall["lines"]["reverted"] == 1, "the fins were taken back"
    assert [row["full_name"] for row in profile["repositories"]] == ["acme/rocket", "acme/pad"]


BEGINNINGS = {
    "text": "Ada Brook\n====",
    "markdown": "# Ada Brook",
    "html": "<!doctype html>",
    "svg": "<svg ",
    "csv": "change,repository,",
    "atom": "<?xml ",
    "jsonresume": "{",
    "json": "{",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_format_of_a_profile_is_complete(almanac: Command, clones: tuple[str, str], form: str) -> None:
    answer = almanac("profile", *clones, "--author", "Ada Brook", "--format", form)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.endswith("\n")
    assert answer.out.lower().lstrip().startswith(BEGINNINGS[form].lower())


@pytest.mark.parametrize("who", ["Ada Brook", "brookside", ADA[1], ADA[1].upper()])
def test_a_person_is_found_by_login_name_or_address(almanac: Command, clones: tuple[str, str], who: str) -> None:
    answer = almanac("profile", *clones, "--author", who, "--format", "json")
    assert json.loads(answer.out)["overall"]["commits"] == 4


def test_output_goes_to_the_file_and_nowhere_else(almanac: Command, clones: tuple[str, str], tmp_path: Path) -> None:
    shown = almanac("profile", *clones, "--author", "Ada Brook")
    kept = almanac("profile", *clones, "--author", "Ada Brook", "--output", str(tmp_path / "ada.txt"))
    assert (kept.code, kept.out, kept.err) == (0, "", "")
    assert (tmp_path / "ada.txt").read_text("utf-8") == shown.out


@pytest.mark.parametrize("form", FORMS)
def test_the_order_of_clones_and_a_second_run_make_no_difference(
    almanac: Command, clones: tuple[str, str], form: str
) -> None:
    asked = ("--author", "Ada Brook", "--format", form)
    first = almanac("profile", *clones, *asked)
    assert almanac("profile", *reversed(clones), *asked) == first
    assert almanac("profile", *clones, clones[0], *asked) == first


@pytest.mark.parametrize("form", FORMS)
def test_an_anonymous_profile_shows_no_name_address_or_login(
    almanac: Command, clones: tuple[str, str], form: str
) -> None:
    answer = almanac("profile", *clones, "--author", "Ada Brook", "--format", form, "--as", "anonymous")
    assert answer.code == 0
    for trace in ("ada", "brook", "90125", "fen.example", "castor"):
        assert trace not in answer.out.lower(), trace


def test_a_profile_verifies_and_a_changed_number_is_named(
    almanac: Command, clones: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "ada.json"
    almanac("profile", *clones, "--author", "Ada Brook", "--format", "json", "--output", str(file))
    assert almanac("verify", *clones, "--profile", str(file)).code == 0
    profile = json.loads(file.read_text("utf-8"))
    profile["overall"]["commits"] += 1
    file.write_text(json.dumps(profile), "utf-8")
    answer = almanac("verify", *clones, "--profile", str(file))
    assert (answer.code, answer.out) == (1, "overall.commits: published 5, recomputed 4\n")
    file.write_text("{", "utf-8")
    assert_refused(almanac("verify", *clones, "--profile", str(file)), "not JSON")
    profile["method"]["version"] = "0"
    file.write_text(json.dumps(profile), "utf-8")
    assert_refused(almanac("verify", *clones, "--profile", str(file)), 'method version "0"')
    assert_refused(almanac("verify", str(tmp_path / "gone"), "--profile", str(file)))
    assert_refused(almanac("verify", *clones, "--profile", str(tmp_path)), "cannot be read")


def test_a_configuration_file_is_judged_line_by_line(almanac: Command, tmp_path: Path) -> None:
    (tmp_path / "good.yml").write_text("on_merge: comment\n")
    (tmp_path / "bad.yml").write_text("digest: issue\non_merge: sometimes\n")
    assert almanac("config", "lint", "good.yml").code == 0
    answer = almanac("config", "lint", "bad.yml")
    assert (answer.code, answer.err) == (1, "")
    assert answer.out.startswith("bad.yml: line 2: on_merge: 'sometimes' is none of")


def test_only_the_months_asked_for_count(almanac: Command, clones: tuple[str, str]) -> None:
    asked = ("profile", *clones, "--author", "Ada Brook", "--format", "json")
    months = [row["month"] for row in json.loads(almanac(*asked).out)["months"]]
    late = json.loads(almanac(*asked, "--since", months[0]).out)
    early = json.loads(almanac(*asked, "--until", months[-1]).out)
    assert [row["month"] for row in late["months"]] == months[:1]
    assert late["overall"]["commits"] + early["overall"]["commits"] == 4


def test_contributors_are_listed_busiest_first_in_every_format(almanac: Command, clones: tuple[str, str]) -> None:
    rows = json.loads(almanac("contributors", *clones, "--format", "json").out)
    assert [(row["display"], row["commits"]) for row in rows] == [("Ada Brook", 4), ("Ben Castor", 2)]
    assert rows[0]["login"] == "brookside"
    names = ["display", "login", "emails", "commits", "features", "bugs", "lines_of_code", "active_months"]
    assert list(rows[0]) == names
    sheet = almanac("contributors", *clones, "--format", "csv").out.splitlines()
    assert sheet[0] == ",".join(names)
    assert sheet[1].startswith("Ada Brook,brookside,")
    table = almanac("contributors", *reversed(clones)).out.splitlines()
    assert [line.split()[0] for line in table] == ["commits", "4", "2"]


def test_changes_are_lines_of_json_oldest_first(almanac: Command, clones: tuple[str, str]) -> None:
    answer = almanac("changes", *clones)
    rows = [json.loads(line) for line in answer.out.splitlines()]
    landed = [row["landed_at"] for row in rows]
    assert (answer.code, len(rows), landed) == (0, 6, sorted(landed))
    states = {row["id"]: row["state"] for row in rows}
    assert sorted(states.values()) == ["landed"] * 5 + ["reverted"]
    mine = [json.loads(line)["id"] for line in almanac("changes", *clones, "--author", "brookside").out.splitlines()]
    assert set(mine) < set(states)
    assert len(mine) == 4


def test_kinds_are_answered_line_for_line(almanac: Command) -> None:
    asked = [{"message": "fix: a"}, {"message": "feat: b", "files": ["src/b.py"]}, {"message": "docs: c"}]
    answer = almanac("classify", stdin="\n".join(json.dumps(row) for row in asked).encode())
    rows = [json.loads(line) for line in answer.out.splitlines()]
    assert (answer.code, [row["kind"] for row in rows]) == (0, ["bug_fix", "feature", "docs"])
    assert all(row["why"] for row in rows)


def test_without_arguments_the_commands_are_listed(almanac: Command) -> None:
    answer = almanac()
    assert (answer.code, answer.err) == (2, "")
    assert "profile" in answer.out
    assert almanac("--help").code == 0


# --- manners ---------------------------------------------------------------------------------------------------------


def test_this_folder_is_read_where_no_clone_is_named(
    almanac: Command, clones: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    named = almanac("contributors", clones[0])
    monkeypatch.chdir(clones[0])
    assert almanac("contributors") == named
    assert almanac("changes").out == almanac("changes", clones[0]).out


@pytest.mark.parametrize(
    ("ending", "begin"),
    [("json", "{"), ("html", "<!doctype html>"), ("md", "# "), ("csv", "change,"), ("svg", "<svg"), ("txt", "Ada")],
)
def test_the_ending_of_the_file_decides_the_format(
    almanac: Command, clones: tuple[str, str], tmp_path: Path, ending: str, begin: str
) -> None:
    file = tmp_path / f"p.{ending}"
    assert almanac("profile", clones[0], "--author", "Ada Brook", "--output", str(file)).code == 0
    assert file.read_text("utf-8").lstrip().startswith(begin)


def test_md_is_short_for_markdown_and_h_for_help(almanac: Command, clones: tuple[str, str]) -> None:
    short = almanac("profile", clones[0], "--author", "Ada Brook", "--format", "md").out
    assert short == almanac("profile", clones[0], "--author", "Ada Brook", "--format", "markdown").out
    assert almanac("jobs", "list", "-h").out == almanac("jobs", "list", "--help").out


def test_a_clone_gets_the_name_it_is_given(almanac: Command, clones: tuple[str, str]) -> None:
    rows = almanac("changes", clones[0], "--name", "other/name").out.splitlines()
    assert {json.loads(row)["repository"] for row in rows} == {"other/name"}
    assert_refused(almanac("changes", *clones, "--name", "other/name"), "--name needs one clone")


def test_another_head_is_read_and_local_commits_are_said(almanac: Command, tmp_path: Path) -> None:
    origin = Repository(tmp_path / "origin")
    origin.commit("One", {"a.py": "x = 1\n"})
    origin.git("clone", "-q", str(origin.folder), str(tmp_path / "copy"))
    copy = Repository.__new__(Repository)
    copy.folder, copy.now = tmp_path / "copy", origin.now
    copy.commit("Two", {"a.py": "x = 2\n"})
    plain = almanac("changes", str(copy.folder))
    assert len(plain.out.splitlines()) == 1
    assert "1 commit of the local branch is not in origin/main and not counted" in plain.err
    assert len(almanac("changes", str(copy.folder), "--head", "main").out.splitlines()) == 2
    assert_refused(almanac("changes", str(copy.folder), "--head", "nowhere"), "--head 'nowhere' is no branch")


def test_months_may_be_given_by_a_date_or_a_tag_in_them(almanac: Command, tmp_path: Path) -> None:
    made = Repository(tmp_path / "tagged")
    made.commit("One", {"a.py": "x = 1\n"})
    made.commit("Two", {"a.py": "x = 2\n"}, days=60)
    made.git("tag", "v2")
    asked = ("profile", str(made.folder), "--author", "Ada Brook", "--format", "json")
    month = json.loads(almanac(*asked, "--since", "2025-03").out)
    for text in ("2025-03-17", "v2"):
        answer = almanac(*asked, "--since", text)
        assert json.loads(answer.out) == month
        assert f"--since {text}: months count as a whole, here 2025-03" in answer.err
    assert_refused(almanac(*asked, "--since", "v3"), "--since 'v3' is not a month, a date or a tag here")


def test_checks_answer_in_json(almanac: Command, clones: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "bad.yml").write_text("odd: 1\n")
    (error,) = json.loads(almanac("config", "lint", "bad.yml", "--json").out)["errors"]
    assert error.startswith("line 1: 'odd' is no key")
    file = str(tmp_path / "p.json")
    almanac("profile", clones[0], "--author", "Ada Brook", "--output", file)
    same = almanac("verify", clones[0], "--profile", file, "--json")
    assert (same.code, json.loads(same.out)["same"]) == (0, True)
    explained = json.loads(almanac("explain", "Ada Brook", "commits", "--clone", clones[0], "--json").out)
    assert explained["value"]
    assert explained["evidence"]
    findings = json.loads(almanac("doctor", "--no-network", "--json").out)
    assert {"state", "subject", "text"} == set(findings[0])


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_are_completed(shell: str) -> None:
    typed = {"COMP_WORDS": "almanac contr", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "almanac contr"}
    action = {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_ALMANAC_COMPLETE": f"complete_{shell}"}
    done = subprocess.run(
        [sys.executable, "-m", "bot"], env=os.environ | typed | action, capture_output=True, text=True, check=False
    )
    assert "contributors" in done.stdout


def test_a_reader_who_closes_the_pager_gets_no_error(tmp_path: Path, clones: tuple[str, str]) -> None:
    script = (
        "import pty, sys; status = pty.spawn([sys.executable, '-m', 'bot', 'profile', sys.argv[1],"
        " '--author', 'Ada Brook']); sys.exit(status)"
    )
    settings = {"PAGER": "sh -c 'cat >/dev/null; echo paged'", "XDG_CACHE_HOME": str(tmp_path), "LINES": "5"}
    done = subprocess.run(
        [sys.executable, "-c", script, clones[0]],
        env=os.environ | settings,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "paged" in done.stdout) == (0, True), done
