"""Which release is the first that contains a commit?"""

from __future__ import annotations

from pathlib import Path

from bot.history.clone import open_clone
from bot.history.record import CloneRecord
from bot.history.releases import first_releases, release_tags
from tests.history.repository import Repository


def _releases(repository: Repository) -> dict[str, str]:
    clone = open_clone(repository.folder)
    return dict(first_releases(clone, release_tags(clone)))


def test_a_commit_is_in_the_oldest_release_that_contains_it(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "rocket")
    one = repository.commit("Add a lamp to it", {"a.py": "1\n"})
    repository.git("tag", "v1.0.0rc1")
    two = repository.commit("Add a door to it", {"b.py": "1\n"})
    repository.git("tag", "-a", "v1.0.0", "-m", "1.0.0")
    repository.git("checkout", "-q", "-b", "1.x")
    side = repository.commit("Keep the door shut", {"b.py": "2\n"})
    repository.git("tag", "v1.0.1")
    repository.git("checkout", "-q", "main")
    three = repository.commit("Add a roof to it", {"c.py": "1\n"})
    repository.git("tag", "v2.0.0a1")
    four = repository.commit("Add a floor to it", {"d.py": "1\n"})
    found = _releases(repository)
    assert found == {one: "1.0.0", two: "1.0.0", side: "1.0.1", three: "2.0.0a1"}
    assert four not in found


def test_nothing_is_known_where_several_products_are_tagged(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "rocket")
    repository.commit("Add a lamp to it", {"a.py": "1\n"})
    for tag in ("lamp@1.0.0", "door@1.0.0", "nightly", "20250101"):
        repository.git("tag", tag)
    assert _releases(repository) == {}


def test_a_record_knows_releases_lines_and_headings_and_follows_new_tags(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "rocket")
    repository.commit("Start the rocket", {"README": "1\n"})
    repository.git("checkout", "-q", "-b", "lamp")
    one = repository.commit("Add a lamp to it", {"lamp/core.py": "1\n", "docs/lamp.md": "# LAMP\n"})
    repository.git("checkout", "-q", "main")
    repository.merge("lamp", "Merge pull request #1 from ada/lamp\n\nAdd a lamp to it")
    repository.commit("Release 1.0", {"CHANGELOG.md": "## 1.0.0\n\n- The lamp is lit (#1)\n"})
    for version in ("1.0.0", "1.1.0"):
        record = CloneRecord([open_clone(repository.folder)], cache=False)
        record.refresh()
        changes = record.changes_of(record.people.find("Ada Brook"))
        texts = record.texts_about(changes)
        assert [cited.line.text for cited in texts.lines["acme/rocket", 1]] == ["The lamp is lit (#1)"]
        assert texts.headings["acme/rocket"]["lamp"] == "LAMP"
        assert texts.releases.get(one) == (None if version == "1.0.0" else "1.0.0")
        record.close()
        repository.git("tag", "-f", "v1.0.0")
