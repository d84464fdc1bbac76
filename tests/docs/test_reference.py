"""Does the documentation site have every document, and its reference every command, setting, key, event and field?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.landing.repo_config.keys import KEYS
from bot.narrative.commands import COMMAND_FORMS
from bot.setup.manifest import app_manifest
from handlers import ROUTERS
from scripts.docs_reference import COMMITTED, PAGES, comments_of_settings
from scripts.docs_site import documents, lost_links
from tests.test_repository import ROOT, commands, settings, text

CONFIGURATION = yaml.safe_load(text("mkdocs.yml") or "")


def _fields(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for one in schema.values():
            yield from _fields(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from _fields(one)


SCHEMA = json.loads((ROOT / "bot/render/profile.schema.json").read_text("utf-8"))
HOLDS = {
    "command-line.md": [
        *(f"## {name}" for name in commands()),
        *{one for found in commands().values() for one in found},
    ],
    "settings.md": [f"| `{name}` |" for name in settings()],
    "almanac-yml.md": [f"| `{key.name}` |" for key in KEYS],
    "github-commands.md": [form.usage.replace("|", "\\|") for form in COMMAND_FORMS],
    "events.md": [f"| `{name}` |" for name in (*ROUTERS, *app_manifest()["default_permissions"])],
    "telemetry.md": re.findall(r'"(almanac_\w+)"', text("bot/web/telemetry.py") or ""),
    "json.md": sorted({*_fields(SCHEMA)}),
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_reference_has_everything_that_the_code_has(page: str) -> None:
    written = PAGES[page]()
    assert len(HOLDS[page]) >= 10
    assert [words for words in HOLDS[page] if words not in written] == []


@pytest.mark.parametrize("page", COMMITTED)
def test_a_committed_page_is_what_the_code_says(page: str) -> None:
    assert text(f"docs/reference/{page}") == PAGES[page](), "run: python -m scripts.docs_reference"


def test_every_setting_has_a_comment() -> None:
    assert [name for name in settings() if not comments_of_settings().get(name)] == []


def _listed(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for one in entry.values() if isinstance(entry, dict) else entry:
            yield from _listed(one)


def test_every_document_is_in_the_navigation_and_nothing_else() -> None:
    generated = {f"docs/reference/{page}" for page in PAGES} | {"docs/examples.md"}
    written = {path.as_posix() for path in documents()}
    decisions = {path for path in written if path.startswith("docs/decisions/0")}
    assert sorted(_listed(CONFIGURATION["nav"])) == sorted((generated | written) - decisions)


def test_the_site_loads_nothing_from_another_host() -> None:
    assert CONFIGURATION["theme"]["font"] is False
    assert CONFIGURATION["plugins"] == ["search"]
    assert not CONFIGURATION.keys() & {"extra_css", "extra_javascript", "repo_url"}


def test_a_lost_link_and_what_another_host_would_serve_are_found(tmp_path: Path) -> None:
    (tmp_path / "here.html").write_text("")
    (tmp_path / "page.html").write_text(
        '<a href="here.html#x">a</a><a href="gone.html">b</a><a href="https://example.com/">c</a>'
        '<script src="https://example.com/x.js"></script><img src="lost.png">'
    )
    assert lost_links(tmp_path) == [
        "page.html loads https://example.com/x.js",
        "page.html: gone.html",
        "page.html: lost.png",
    ]
