"""Are the parts of a product that a person worked on found and named as the project names them?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from bot.landing.identity.credit import person_key
from bot.model.change import Change
from bot.narrative.component_paths import components, own_tokens
from bot.narrative.entry import Theme
from bot.narrative.part_totals import theme_totals
from bot.narrative.project_texts import Move, ProjectTexts
from bot.narrative.themes import themes_of
from tests.narrative.worlds import MIRA, UTC_ZONE, change

KEYS = {person_key(MIRA)}
OWN = own_tokens("acme/engine")


def _changes(*paths: Sequence[str], title: str = "Keep it open", first: int = 1) -> list[Change]:
    found = []
    for number, touched in enumerate(paths, first):
        one = change(title, number=number, lines=number)
        (commit,) = one.commits
        fact = replace(commit.fact, paths=tuple(touched), pull_request=number)
        found.append(replace(one, commits=(replace(commit, fact=fact),)))
    return found


def _themes(changes: Sequence[Change], texts: ProjectTexts | None = None) -> tuple[Theme, ...]:
    facts = [one.fact for each in changes for one in each.commits]
    return themes_of(changes, KEYS, texts or ProjectTexts(), zone=UTC_ZONE, totals=theme_totals(facts))


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("engine/_websocket/reader.py", ["websocket", "reader"]),
        ("src/engine/connector.py", ["connector"]),
        ("engine/client.py", ["client"]),
        ("engine/client/io.py", ["io"]),
        ("packages/storage/src/index.ts", ["storage"]),
        ("crates/engine-io/src/lib.rs", ["engine-io"]),
        ("docs/guide/sockets.md", ["sockets"]),
        ("tests/storage/test_reader.py", []),
        ("docs/zh/customize/sockets.md", ["sockets"]),
        ("site/user-guide/concepts/storage.rst", ["storage"]),
        ("docs/source/release-notes.rst", []),
        ("docs/_includes/top.html", []),
        ("docs/install_faq.md", []),
        ("engine/cmd/root.go", []),
        ("engine/version_current.go", []),
        ("setup.py", []),
        ("storage/logo.png", []),
        (".github/workflows/ci.yml", []),
        ("src/utils.py", []),
        ("storage/test_reader.py", []),
    ],
)
def test_a_path_names_the_parts_that_contain_it(path: str, names: list[str]) -> None:
    assert [part.name for part in components(path, OWN)] == names


def test_few_changes_have_no_theme() -> None:
    assert _themes(_changes(*[["engine/storage/reader.py"]] * 9)) == ()


def test_a_theme_has_a_tenth_of_the_changes_and_its_own_months_and_total() -> None:
    storage = _changes(*[["engine/storage/reader.py"]] * 6)
    rest = _changes(*[[f"engine/part{letter}/x.py"] for letter in "abcdefgh"], first=20)
    (theme,) = _themes(storage + rest)
    assert (theme.name, theme.folder, len(theme.changes), theme.total) == ("storage", "engine/storage", 6, 6)
    assert theme.first


def test_where_no_part_has_a_tenth_a_twentieth_is_enough() -> None:
    storage = _changes(*[["engine/storage/reader.py"]] * 4)
    rest = _changes(*[[f"engine/part{letter}/x.py"] for letter in "abcdefghijklmnopqrstuvwxyz" * 2], first=20)
    assert [theme.name for theme in _themes(storage + rest)] == ["storage"]


def test_of_code_and_pages_about_a_part_the_code_is_its_folder() -> None:
    pages = _changes(*[["docs/storage/a.md"]] * 6)
    code = _changes(*[["engine/storage/reader.py"]] * 4, first=20)
    rest = _changes(*[[f"engine/part{letter}/x.py"] for letter in "abcdefgh"], first=40)
    assert [theme.folder for theme in _themes(pages + code + rest)] == ["engine/storage"]


def test_a_heading_of_the_documentation_spells_the_name() -> None:
    socket = _changes(*[["engine/_websocket/reader.py"]] * 5)
    rest = _changes(*[["engine/ui/x.py"]] * 7, first=20, title="Draw the uI again")
    texts = ProjectTexts(headings={"acme/engine": {"websocket": "WebSocket", "ui": "UI"}})
    assert [theme.name for theme in _themes(socket + rest, texts)] == ["UI", "WebSocket"]
    assert [theme.name for theme in _themes(socket + rest)] == ["ui", "websocket"], "not as one person's titles do"


def test_old_and_new_place_of_a_file_are_one_theme() -> None:
    old = _changes(*[["engine/disk/reader.py"]] * 4)
    new = _changes(*[["engine/storage/reader.py"]] * 4, first=10)
    rest = _changes(*[["engine/sockets/x.py"]] * 9, first=20)
    moved_at = new[0].landed_at - 1
    texts = ProjectTexts(moves={"acme/engine": (Move(moved_at, "engine/disk/reader.py", "engine/storage/reader.py"),)})
    found = {theme.name: theme for theme in _themes(old + new + rest, texts)}
    assert len(found["storage"].changes) == 8


def test_the_part_that_is_most_of_the_repository_names_nothing() -> None:
    names = {theme.name for theme in _themes(_changes(*[["kernel/boot/x.py"]] * 6, *[["kernel/disk/x.py"]] * 6))}
    assert names == {"boot", "disk"} or names == set()


def test_the_repositorys_own_names_name_no_part_of_it() -> None:
    framework = own_tokens("acme/django-rest-framework")
    assert [part.name for part in components("rest_framework/routers.py", framework)] == ["routers"]
    telegram = own_tokens("acme/python-telegram-bot")
    assert [part.name for part in components("telegram/ext/jobs.py", telegram)] == ["ext", "jobs"]
