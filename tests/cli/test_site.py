"""What does `almanac site` write, for whom, and what does a second run change?"""

from __future__ import annotations

import json
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bot.cli.main import main
from bot.cli.recomputing.offline import read_window
from bot.cli.recomputing.site.build import SiteOptions, SiteReport, build_site
from bot.configuration.errors import UnusableInputError
from bot.history.clone import Clone
from bot.landing.identity.consent import OwnEntry
from bot.landing.repo_config.files import PEOPLE_PATH
from tests.history.repository import BEN, Repository

UTC = read_window(None, None, "UTC")
ADA = ("Ada Brook", "7+ada-brook@users.noreply.github.com")
ZYX = ("Zyxel Quorn", "12+zyxquorn@users.noreply.github.com")
CANARIES = ("zyx", "quorn")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Three people, of whom the third is named in titles, trailers, branches and a changelog."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    repository = Repository(tmp_path / "rocket")
    people = (ADA, BEN, ZYX)
    for at in range(15):
        thanks = ("with Zyxel Quorn", "as @zyxquorn asked", "from zyxquorn/fix", "for zyxel.quorn@example.org")[at % 4]
        title = f"Fix the deadlock of stage {at} {thanks} (#{at + 1})"
        trailer = f"\n\nCo-authored-by: {ZYX[0]} <{ZYX[1]}>" if at % 2 else ""
        files: dict[str, str | bytes | None] = {
            f"src/engine/stage{at}.py": f"value = {at}\n" * 9,
            "CHANGES.md": f"# Changes\n\n## 1.{at}\n\n- Fixed the deadlock of stage {at} -- by @zyxquorn (#{at + 1})\n",
        }
        repository.commit(title + trailer, files, author=people[at % 3], days=6)
    repository.commit(f"Revert stage 14, thanks Zyxel Quorn\n\nThis reverts commit {repository.tip()}.", {"a": "1\n"})
    return repository


def agree(clone: Repository, *entries: str, author: tuple[str, str] = ADA) -> None:
    text = "# who has a page\npeople:\n" + "".join(f"  - {entry}\n" for entry in entries)
    clone.commit("Name who has a page", {PEOPLE_PATH: text}, author=author)


def build(clone: Repository) -> SiteReport:
    return build_site([str(clone.folder)], site_of(clone), UTC)


def site_of(clone: Repository) -> Path:
    return clone.folder.parent / "site"


def texts(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


class Links(HTMLParser):
    """The addresses and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.tags: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        found = dict(attrs)
        self.links += [value for name in ("href", "src", "srcset") if (value := found.get(name))]
        self.anchors.update(value for value in [found.get("id")] if value)


def broken_links(folder: Path) -> list[str]:
    pages = {page: Links(page.read_text()) for page in folder.rglob("*.html")}
    return [
        f"{page.relative_to(folder)}: {link}"
        for page, found in pages.items()
        for link in found.links
        if "://" not in link and not leads_somewhere(page, link, pages)
    ]


def leads_somewhere(page: Path, link: str, pages: dict[Path, Links]) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return not link.startswith("/") and target.is_file() and (not anchor or anchor in pages[target].anchors)


def test_without_a_people_file_the_site_names_nobody_and_says_how_to_agree(clone: Repository) -> None:
    assert build(clone).people == ()
    found = texts(site_of(clone))
    assert not [path for path in found if path.startswith("people/")]
    assert "Nobody has a page here yet" in found["index.html"]
    assert PEOPLE_PATH in found["index.html"]
    for name in (*CANARIES, "Ada Brook", "ada-brook", "Ben Castor", "ben@example.org"):
        assert [path for path, text in found.items() if name.lower() in text.lower()] == []


def test_who_agrees_has_a_page_and_nobody_else_is_named_in_any_file(clone: Repository) -> None:
    agree(clone, "ada-brook")
    assert build(clone).people == ("Ada Brook",)
    found = texts(site_of(clone))
    for name in (*CANARIES, "castor", "ben@"):
        assert [path for path, text in found.items() if name in text.lower()] == []
    assert (
        "somebody else" in found["repositories/acme-rocket/digests/2025-01.md"] + found["people/ada-brook/profile.json"]
    )
    digests = [text for path, text in found.items() if path.endswith(".md") and "/digests/" in path]
    assert any("Ada Brook" in text for text in digests)
    assert any("2 others" in text for text in digests)
    assert "Ada Brook" in found["people/ada-brook/index.html"]


def test_a_line_that_somebody_else_added_does_not_count(clone: Repository) -> None:
    agree(clone, "ada-brook", "zyxquorn", author=BEN)
    report = build(clone)
    assert report.people == ()
    assert [note for note in report.notes if "somebody else added it" in note] == list(report.notes) != []


def test_who_removes_the_line_is_gone_after_the_next_build_with_every_file(clone: Repository) -> None:
    agree(clone, "ada-brook")
    build(clone)
    agree(clone, author=BEN)
    assert build(clone).count.deleted > 10
    found = texts(site_of(clone))
    assert [path for path, text in found.items() if "ada" in path or "Ada Brook" in text] == []
    assert not (site_of(clone) / "people").exists()


def test_links_are_relative_and_lead_somewhere_and_no_page_has_a_script(clone: Repository) -> None:
    agree(clone, "ada-brook")
    build(clone)
    assert broken_links(site_of(clone)) == []
    assert [path for path, text in texts(site_of(clone)).items() if "<script" in text] == []


def test_every_format_is_there_in_both_schemes(clone: Repository) -> None:
    agree(clone, "ada-brook")
    build(clone)
    person = site_of(clone) / "people" / "ada-brook"
    assert json.loads((person / "profile.json").read_text())["contributor"]["name"] == "Ada Brook"
    for name in ("card", "badge", "heatmap", "months", "languages"):
        light, dark = ((person / f"{name}-{scheme}.svg").read_text() for scheme in ("light", "dark"))
        assert "@media" in (person / f"{name}.svg").read_text()
        assert "@media" not in light + dark
        assert light != dark
    for path in ("profile.csv", "profile.md", "feed.atom", "../../repositories/acme-rocket/feed.atom"):
        assert (person / path).read_text()
    months = json.loads((site_of(clone) / "repositories/acme-rocket/months.json").read_text())["months"]
    assert sum(month["commits"] for month in months) == 17


def test_a_second_run_writes_nothing_and_one_more_commit_only_what_it_changes(clone: Repository) -> None:
    agree(clone, "ada-brook")
    first = build(clone)
    assert build(clone).count == type(first.count)(0, first.count.written, 0)
    before = {path: path.stat().st_mtime_ns for path in site_of(clone).rglob("*") if path.is_file()}
    clone.commit("Add a galley (#99)", {"galley.py": "value = 1\n"}, author=BEN, days=40)
    build(clone)
    changed = {path.name for path, at in before.items() if path.stat().st_mtime_ns != at}
    assert not {name for name in changed if re.match(r"2025-0[12]", name)}, "older months stay"
    assert "profile.csv" not in changed, "the record of Ada is the same"


def test_an_incremental_build_equals_one_from_nothing(clone: Repository, tmp_path: Path) -> None:
    agree(clone, "ada-brook")
    build(clone)
    clone.commit("Fix stage 3 again (#99)", {"src/engine/stage3.py": "value = 9\n"}, author=ADA, days=40)
    clone.git("tag", "v2.0.0")
    build(clone)
    build_site([str(clone.folder)], tmp_path / "anew", UTC)
    anew, grown = texts(tmp_path / "anew"), texts(site_of(clone))
    assert {path for path in anew if anew[path] != grown.get(path)} <= {".almanac-site.json"}
    assert anew.keys() == grown.keys()


def test_files_of_others_stay_and_are_not_overwritten(clone: Repository) -> None:
    folder = site_of(clone)
    folder.mkdir()
    (folder / "CNAME").write_text("example.org\n")
    build(clone)
    assert (folder / "CNAME").read_text() == "example.org\n"
    other = clone.folder.parent / "other"
    other.mkdir()
    (other / "index.html").write_text("mine")
    with pytest.raises(UnusableInputError, match=r"index\.html was not written by almanac site"):
        build_site([str(clone.folder)], other, UTC)
    assert [path.name for path in other.iterdir()] == ["index.html"]


@pytest.mark.parametrize("path", ["../outside", "/outside", "a/../../outside", "C:\\outside"])
def test_a_manifest_that_leads_outside_is_refused(clone: Repository, path: str) -> None:
    build(clone)
    manifest = site_of(clone) / ".almanac-site.json"
    stored = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(stored | {"files": stored["files"] | {path: "0"}}))
    with pytest.raises(UnusableInputError, match="damaged"):
        build(clone)


def test_several_clones_make_one_site_in_any_order(clone: Repository, tmp_path: Path) -> None:
    agree(clone, "ada-brook")
    probe = Repository(tmp_path / "probe", "https://github.com/acme/probe.git")
    probe.commit("Add a lens (#1)", {"lens.py": "value = 1\n"}, author=ADA)
    for name, paths in (("one", [clone, probe]), ("two", [probe, clone])):
        build_site([str(one.folder) for one in paths], tmp_path / name, UTC)
    assert texts(tmp_path / "one") == texts(tmp_path / "two")
    assert "acme/probe" in (tmp_path / "one/people/ada-brook/index.html").read_text()
    assert broken_links(tmp_path / "one") == []


@pytest.mark.parametrize(
    "arguments", [["nowhere", "--output", "x"], ["--output", "x", "nowhere", "--timezone", "Mars"]]
)
def test_bad_input_is_one_line_and_exit_2(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["site", *arguments])
    assert stopped.value.code == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_the_command_says_what_it_did(clone: Repository, capfd: pytest.CaptureFixture[str]) -> None:
    agree(clone, "ada-brook", "zyxquorn")
    with pytest.raises(SystemExit) as ended:
        main(["site", str(clone.folder), "--output", str(site_of(clone))])
    said = capfd.readouterr()
    assert ended.value.code == 0
    assert "files written" in said.out
    assert "zyxquorn does not count: somebody else added it" in said.err


def test_another_branch_is_read_where_it_is_named(clone: Repository, tmp_path: Path) -> None:
    before = clone.tip()
    agree(clone, "ada-brook")
    with pytest.raises(SystemExit):
        main(["site", str(clone.folder), "--output", str(tmp_path / "old"), "--head", before, "--name", "lab/probe"])
    assert not (tmp_path / "old" / "people").exists()
    assert [folder.name for folder in (tmp_path / "old" / "repositories").iterdir()] == ["lab-probe"]


def test_the_login_of_an_ordinary_address_counts_where_github_confirms_it(clone: Repository, tmp_path: Path) -> None:
    agree(clone, "ben-of-the-reeds", author=BEN)
    (note,) = build(clone).notes
    assert "write the address that you commit with, or use --ask-github" in note
    asked: list[str] = []

    def confirm(_: Clone, one: OwnEntry) -> str | None:
        return asked.append(one.entry)

    report = build_site([str(clone.folder)], tmp_path / "asked", UTC, SiteOptions(confirm=confirm))
    assert (report.people, report.notes, asked) == ((BEN[0],), (), ["ben-of-the-reeds"])
    assert (tmp_path / "asked" / "people" / "ben-of-the-reeds" / "index.html").is_file()
    refused = build_site([str(clone.folder)], tmp_path / "no", UTC, SiteOptions(confirm=lambda *_: "somebody else"))
    assert refused.people == ()


def test_a_shallow_clone_says_that_it_does_not_know_who_added_lines(clone: Repository, tmp_path: Path) -> None:
    agree(clone, "ada-brook")
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", clone.folder.as_uri(), str(shallow)], check=True)
    report = build_site([str(shallow)], tmp_path / "out", UTC)
    assert report.people == ()
    assert "git fetch --unshallow" in report.notes[0]


def test_a_folder_of_git_is_not_written_to(clone: Repository) -> None:
    with pytest.raises(UnusableInputError, match="git keeps its own files"):
        build_site([str(clone.folder)], clone.folder / ".git", UTC)
