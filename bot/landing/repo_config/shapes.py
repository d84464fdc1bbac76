"""What may a configuration value look like, and which error does any other value cause?

Each shape reads a node of the tree and describes itself in JSON Schema, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Protocol

from msgspec import Struct

from bot.landing.repo_config.tree import Node, quote_text

Report = Callable[[int, str], None]
"""Called with (line, message) for every error."""


class Shape(Protocol):
    """`read` returns the value, or None after reporting what is wrong with it."""

    def read(self, node: Node, key: str, report: Report) -> object | None: ...

    def schema(self) -> dict[str, object]: ...


def suggestion(word: str, known: tuple[str, ...]) -> str:
    """`; did you mean x?` if a known word is similar, else an empty string."""
    found = get_close_matches(word[:80].lower(), known, n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else ""


class ChoiceShape(Struct, frozen=True):
    """One of a few words. A bare false means `off` if that is one of them."""

    words: tuple[str, ...]

    def read(self, node: Node, key: str, report: Report) -> str | None:
        if node.shape == "text":
            if node.text in self.words:
                return node.text
            if "off" in self.words and node.is_false:
                return "off"
            if not node.empty:
                listed = ", ".join(self.words)
                report(
                    node.line, f"{key}: {quote_text(node.text)} is none of {listed}{suggestion(node.text, self.words)}"
                )
                return None
        report(node.line, f"{key} wants one of {', '.join(self.words)}")
        return None

    def schema(self) -> dict[str, object]:
        return {"enum": [*self.words, *([False] if "off" in self.words else [])]}


class TextShape(Struct, frozen=True):
    """A short text. `wrong` returns what is wrong with a value, or None; `pattern` is its shape for editors."""

    noun: str
    wrong: Callable[[str], str | None]
    longest: int = 256
    pattern: str = r"\S"

    def read(self, node: Node, key: str, report: Report) -> str | None:
        if node.shape != "text" or node.empty or not node.text.strip():
            report(node.line, f"{key} wants {self.noun}")
            return None
        if len(node.text) > self.longest:
            report(node.line, f"{key}: longer than {self.longest} characters")
            return None
        reason = self.wrong(node.text)
        if reason is not None:
            report(node.line, f"{key}: {quote_text(node.text)} {reason}")
            return None
        return node.text

    def schema(self) -> dict[str, object]:
        return {"type": "string", "maxLength": self.longest, "pattern": self.pattern}


class ListShape(Struct, frozen=True):
    """A list of texts."""

    each: TextShape
    most: int = 200

    def read(self, node: Node, key: str, report: Report) -> tuple[str, ...] | None:
        if node.shape != "list":
            report(node.line, f"{key} wants a list, one line `- …` for each")
            return None
        if len(node.children) > self.most:
            report(node.line, f"{key}: more than {self.most} entries")
            return None
        found = [self.each.read(child, key, report) for child in node.children]
        return tuple(dict.fromkeys(text for text in found if text is not None))

    def schema(self) -> dict[str, object]:
        return {"type": "array", "items": self.each.schema(), "maxItems": self.most}


class MappingShape(Struct, frozen=True):
    """A mapping from texts, compared without case, to one of a few words."""

    name: TextShape
    word: ChoiceShape
    most: int = 200

    def read(self, node: Node, key: str, report: Report) -> dict[str, str] | None:
        if node.shape != "mapping":
            report(node.line, f"{key} needs lines of the form `{self.name.noun.split()[-1]}: {self.word.words[0]}`")
            return None
        if len(node.keys) > self.most:
            report(node.line, f"{key}: more than {self.most} entries")
            return None
        found: dict[str, str] = {}
        for label, child in mapping_entries(node, key, report, normalise=str.lower):
            name = self.name.read(label, key, report)
            word = self.word.read(child, f"{key}.{quote_text(label.text, quote='')}", report)
            if name is not None and word is not None:
                found[name.lower()] = word
        return found

    def schema(self) -> dict[str, object]:
        return {
            "type": "object",
            "propertyNames": self.name.schema(),
            "additionalProperties": self.word.schema(),
            "maxProperties": self.most,
        }


def mapping_entries(
    node: Node, key: str, report: Report, normalise: Callable[[str], str] = str
) -> list[tuple[Node, Node]]:
    """The entries of a mapping. In YAML the last of two equal keys would win silently; here duplicates are reported."""
    first: dict[str, int] = {}
    found = []
    for name, child in zip(node.keys, node.children, strict=True):
        word = normalise(name.text)
        if name.shape != "text":
            report(name.line, f"{key or 'the file'}: a key must be a plain word")
        elif word in first:
            report(name.line, f"{quote_text(name.text)} appears twice, first in line {first[word]}")
        else:
            first[word] = name.line
            found.append((name, child))
    return found
