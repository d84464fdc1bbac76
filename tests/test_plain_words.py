"""Do documents, help, pages and messages use plain words? Harper checks the grammar, where npm installed it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from scripts.prose_texts import all_texts, masked, of_module, of_template

ROOT = Path(__file__).parents[1]
HARPER = Path(os.environ.get("HARPER", ROOT / "build/extras/node_modules/harper.js"))

BANNED = {
    "report, render, publish or say": r"\b(?:re)?t(?:old|ells?|elling)\b",
    "imported or received": r"\b(?:takes?|taken|took|taking) in\b(?= (?:from|by|as)\b|[.,;:])",
    "reverted": r"\b(?:takes?|taken|took|taking) back\b",
    "active or in use": r"\bin force\b",
    "again": r"\banew\b",
    "reviews and triage": r"\bbeside code\b",
    "by or about a person": r"\bof somebody\b",
    "a plain possessive": r"\bnobody else's\b",
    "from which, of it": r"\b(?:whence|thereof)\b",
    "erased": r"\bbur(?:y|ies|ied|ying)\b",
    "merge commit": r"\bcarriers?\b",
    "request": r"\bwish(?:es)?\b",
    "webhook": r"\bdoors?\b",
    "cache": r"\bshel(?:f|ves)\b",
    "context": r"\bworkplaces?\b",
    "prompt": r"\bsheets?\b",
    "is, or is shown": r"\bstands\b(?! for\b)",
    "start, prefix": r"\bbeginnings\b",
    "written, formatted": r"\bspelt\b",
    "a plainer word": r"\b(?:desks?|sparing\w*)\b",
}
"""what to write instead: the pattern"""


@cache
def texts() -> list[tuple[str, str]]:
    """Every fixed text for people, with where it is."""
    return [(one["where"], one["text"]) for one in all_texts()]


@pytest.mark.parametrize("instead", BANNED)
def test_no_text_for_people_uses_a_banned_word(instead: str) -> None:
    found = [
        f"{where}: “{match[0]}” in “{text[max(0, match.start() - 40) : match.end() + 40]}”"
        for where, text in texts()
        for match in re.finditer(BANNED[instead], text, re.IGNORECASE)
    ]
    assert found == []


def test_the_glossary_has_at_most_forty_words() -> None:
    entries = re.findall(r"^- \*\*([^*]+)\.\*\*", (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE)
    words = [word for entry in entries for word in entry.split(",")]
    assert 20 <= len(words) <= 40
    assert len({word.strip().lower() for word in words}) == len(words)


def test_a_rule_of_harper_is_switched_off_only_with_a_reason() -> None:
    lines = (ROOT / "scripts/prose_rules_off.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"#.*|\w+: .{20,}", line)] == []


def test_harper_finds_nothing() -> None:
    if not HARPER.exists() or shutil.which("node") is None:
        pytest.skip("HARPER IS NOT INSTALLED: the grammar of documents, help and pages was not checked; run make prose")
    done = subprocess.run(
        ["make", "prose", f"HARPER={HARPER}"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


# --- what is read ----------------------------------------------------------------------------------------------------


def test_code_quotations_and_addresses_are_not_prose() -> None:
    page = "Run `make test`.\n\n```\nmake tets\n```\n\n> a qoute\n\nSee [the page](docs/pages.md) or https://example.com/x.\n"
    assert masked(page).split() == ["Run", "`x`.", "See", "the", "page", "or", "`x`"]


def test_a_template_is_read_without_tags_and_expressions() -> None:
    source = '<p class=note>{% if one %}{{ one }} lines{% endif %} of code.</p>{# why #}<img alt="A chart">'
    assert of_template(source) == "`x` lines of code.\n\nA chart"


def test_sentences_of_a_module_are_read_and_its_docstrings_and_sql_are_not() -> None:
    source = (
        '"""What does this module do here?"""\nA = f"{x} is not a month at all"\nB = "select a from b where c = d"\n'
    )
    assert list(of_module(source)) == ["`x` is not a month at all"]
