"""Does any untrusted text become active where the bot writes? Runs corpora through every sink, rendered as on GitHub.

    python -m tests.campaigns.corpora [FOLDER ...]

Uses naughty strings, the examples of CommonMark, XSS lines and Markdown payloads; a FOLDER (`*.json`, `*.txt`) adds
more.
"""

from __future__ import annotations

import asyncio
import json
import re
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from html import unescape
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch
from xml.etree import ElementTree

import cmarkgfm
import html5lib
from cmarkgfm.cmark import Options
from msgspec import Struct
from msgspec.structs import replace

from bot.github.client import Client
from bot.github.discussions import post_comment
from bot.github.posts import marker
from bot.landing.repo_config.options import lint
from bot.metrics.features import FEATURES
from bot.model.change import Change, Item
from bot.model.commit import Repository, Signature
from bot.model.fact import AiMark, Lines
from bot.model.ids import ChangeId, Month, PersonKey
from bot.model.profile import MonthRecord, Sentence, Text
from bot.narrative.digest import ContributorRow, DigestGroup, DigestLine, MonthDigest
from bot.narrative.entry import Entry
from bot.render.markdown_escaping import MdText, md_text
from bot.render.notes.digest import DigestFrame, NamedLink, digest_note
from bot.render.notes.landing import NoteContext, landing_note
from bot.render.notes.reply import month_part, plain_part, reply_note, why_change_part, why_number_part
from tests.campaigns.strangers import texts
from tests.render.factories import change as landed_change

Sink = Callable[[str], str]
_CHUNK = 500
"""texts per process"""
WORDS = "words"
MONTH = Month("2031-04")
NOTHING = "\ue000"
"""a text that renders as nothing: a name or a title may be empty, and its row with it"""
_REFERENCE = re.compile(
    r"""(?<![\w/.@-])@[A-Za-z0-9] | (?<![\w])\#[0-9] | [A-Za-z0-9-]\#[0-9] | \bgh-[0-9]
      | (?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z]) | :[a-z0-9_+-]+: | https?://[a-z0-9]""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_TAG = re.compile(r"<[^>]*>?")
_RENDERERS = ("notes.digest", "notes.landing", "notes.reply", "text.markdown")
"""modules of bot/render that escape; the control disables their escaping"""


def _change(text: str) -> Change:
    who, helper = Signature(text, "mira@example.org"), Signature(text, "ola@example.org")
    found = landed_change("harbour/beacon", 12, WORDS, "2031-04-03")
    (commit,) = found.commits
    mark = AiMark(3, text, text)
    fact = replace(commit.fact, author=who, co_authors=(helper,), ai=(mark,))
    return replace(found, title=text, why=text, commits=(replace(commit, fact=fact),), state="reverted")


def _record(text: str, change: Change) -> MonthRecord:
    item = Item("feature", text, "reverted", (change.id,))
    said = Text((Sentence(text, (change.id,)),))
    return MonthRecord(Month("2031-04"), Lines(authored=12), said, (item,), {"commits": 3, "features": 1})


def _check(text: str) -> str:
    around = NoteContext(problems=(text,), disputes={12: (text,)})
    return landing_note([_change(text)], around).summary


def _comment(text: str) -> str:
    return f"{marker('landing:1:12')}\n{landing_note([_change(text), _change(text)]).summary}"


def _configuration(text: str) -> str:
    said = json.dumps(text)
    problems = [*lint(f"{said}: 1\n"), *lint(f"timezone: {said}\n"), *lint(f"kinds:\n  labels:\n    {said}: {said}\n")]
    return landing_note([], NoteContext(problems=problems or [text])).summary


def _line(text: str, number: int) -> DigestLine:
    link = f"https://github.com/harbour/beacon/pull/{number}"
    entry = Entry(text, "Fix", "title", ChangeId("harbour/beacon#12"), None, link, number, (text,), text, MONTH)
    return DigestLine(entry, (text,))


def _note(text: str, people: int) -> str:
    """Only one person brings the text, next to harmless ones: with many long texts the note would only give numbers."""
    rows = tuple(ContributorRow(text if at == 0 else WORDS, 3, 1, 0, 0) for at in range(people))
    groups = (DigestGroup(text, (_line(text, 12), _line(WORDS, 13))),)
    reverts = (Sentence(text, (ChangeId("harbour/beacon#12"),), "course"),)
    folded = tuple(_line(text if at == 0 else WORDS, 20 + at) for at in range(people - 1))
    digest = MonthDigest(MONTH, 3 * people, 3, 1, 0, groups, folded, (text,), people, reverts, rows)
    return digest_note(digest, DigestFrame(text, text, disputes=(text,), releases=(NamedLink(text),)))


def _digest(text: str, people: int) -> str:
    return f"{marker('digest:1:2031-04')}\n{_note(text, people)}"


class _Discussion:
    """Accepts the text of an existing comment, like GitHub."""

    def __init__(self) -> None:
        self.body = ""

    async def mutate(self, _: str, **values: Any) -> dict[str, Any]:
        self.body = str(values["body"])
        return {}


def _discussion(text: str) -> str:
    taken, here = _Discussion(), Repository("harbour/beacon")
    given = {"key": "digest:1:2031-04", "text": _note(text, 2), "known": "DC_1", "opening": ("digests:1", "", "")}
    asyncio.run(post_comment(cast(Client, taken), here, **cast(Any, given)))
    return taken.body


def _narrative(text: str) -> str:
    """A digest of a quiet month."""
    one = MonthDigest(MONTH, 1, 1, 1, 0, (DigestGroup("", (_line(text, 12),)),), (), (), 0, (), ())
    return digest_note(one, DigestFrame("UTC"))


def _reply(text: str) -> str:
    change = _change(text)
    record, changes = _record(text, change), {change.id: change}
    parts = (
        plain_part(f"why {text}", text),
        month_part("me", record, changes, text),
        why_change_part(f"why {text}", [change], {PersonKey("u:1")}),
        why_number_part("why features", FEATURES, [record], changes),
    )
    return f"{marker('reply:1:2')}\n{reply_note(parts)}"


SINKS: Mapping[str, Sink] = {
    "check run": _check,
    "comment on landing": _comment,
    "configuration error": _configuration,
    "digest, open": lambda text: _digest(text, 1),
    "digest, folded": lambda text: _digest(text, 13),
    "digest of a quiet month": _narrative,
    "discussion": _discussion,
    "reply": _reply,
}
_BY_SHAPE = {name for name in SINKS if name not in ("configuration error", "digest of a quiet month")}
"""sinks whose elements do not depend on the text; the others print more or less of it"""
_HARMLESS = frozenset(
    ("html", "head", "body", "h2", "h3", "p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "a")
)


class Seen(Struct, frozen=True):
    """What a reader's browser and GitHub's filters find: elements in order, link targets, references."""

    shape: tuple[str, ...]
    links: frozenset[str]
    references: frozenset[str]


def rendered(markdown: str) -> str:
    """Render with every option that lets HTML through: GitHub's own sanitiser comes on top."""
    return cmarkgfm.github_flavored_markdown_to_html(markdown, options=Options.CMARK_OPT_UNSAFE)


def look(html: str) -> Seen:
    """Parse the page like a browser."""
    tree: ElementTree.Element = html5lib.parse(html, namespaceHTMLElements=False)
    nodes = [node for node in tree.iter() if isinstance(node.tag, str)]
    marks = [f"{node.tag} {' '.join(sorted(set(node.keys()) - {'href', 'align'}))}".strip() for node in nodes]
    links = frozenset(node.get("href", "") for node in nodes if node.tag == "a")
    return Seen(tuple(marks), links, _references("".join(tree.itertext())))


def _references(text: str) -> frozenset[str]:
    return frozenset(found[0] for found in _REFERENCE.finditer(" ".join(text.split())))


@cache
def calm(name: str, words: str, *, escaped: bool) -> tuple[list[str], Seen]:
    """The tags of a sink's output for harmless words, and what is seen of it."""
    html = rendered(SINKS[name](words))
    return _TAG.findall(html), look(html)


def active(name: str, text: str, *, escaped: bool = True) -> list[str]:
    """What a text causes in a sink that harmless words do not."""
    html = rendered(SINKS[name](text))
    tags, before = calm(name, WORDS if md_text(text) else NOTHING, escaped=escaped)
    if _TAG.findall(html) == tags:
        # Text never contains a raw "<", so equal tags mean equal elements, and no parser is needed.
        return sorted(_references(unescape(_TAG.sub("", html))) - before.references)
    seen = look(html)
    known = set(before.shape) if name in _BY_SHAPE else _HARMLESS
    new = [f"<{tag}>" for tag in sorted(set(seen.shape) - known)]
    if name in _BY_SHAPE and not new and seen.shape != before.shape:
        new = ["<another order>"]
    return [*new, *sorted(seen.links - before.links), *sorted(seen.references - before.references)]


def control() -> ExitStack:
    """Disable escaping while it is open: the findings then show that the oracle works."""
    stack = ExitStack()
    for module in _RENDERERS:
        stack.enter_context(patch(f"bot.render.{module}.md_text", lambda text, *_: MdText(_printable(text))))
    return stack


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _acting(chunk: tuple[str, tuple[str, ...]]) -> tuple[list[tuple[str, list[str]]], int]:
    """The texts of a chunk that are active in a sink, each with its effects; and how many are without escaping."""
    name, texts = chunk
    acting = [(text, found) for text in texts if (found := active(name, text))]
    with control():
        return acting, sum(bool(active(name, text, escaped=False)) for text in texts)


def run(texts: Sequence[str]) -> dict[str, tuple[int, int]]:
    """By sink: the number of texts that are active, and of those that are active without escaping."""
    found: dict[str, tuple[int, int]] = {}
    parts = [tuple(texts[at : at + _CHUNK]) for at in range(0, len(texts), _CHUNK)]
    # The renderer releases neither its tree nor its text, so a process handles only one chunk.
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        for name in SINKS:
            began, acting, unescaped = time.monotonic(), [], 0
            for some, count in pool.imap(_acting, [(name, part) for part in parts], chunksize=1):
                acting += some
                unescaped += count
            found[name] = len(acting), unescaped
            took = time.monotonic() - began
            print(f"| {name} | {len(texts)} | {len(acting)} | {unescaped} | {took:.0f} s |", flush=True)
            for text, what in acting[:3]:
                print(f"    {text[:80]!r}: {what[:5]}", flush=True)
    return found


def main() -> int:
    told = texts([Path(folder) for folder in sys.argv[1:]])
    print("| sink | texts | acting | acting without escaping | |\n|---|---|---|---|---|", flush=True)
    found = run(told)
    acting, unescaped = (sum(row[at] for row in found.values()) for at in (0, 1))
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // 1024
    print(f"in all: {acting} act; without escaping {unescaped}; at most {most} MB in a process")
    return 1 if acting or unescaped < len(told) else 0


if __name__ == "__main__":
    raise SystemExit(main())
