"""What may a configuration value look like, and which error does any other value cause?

Each shape reads a node of the tree and describes itself in JSON Schema, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Protocol

from msgspec import Struct

from bot.landing.config_tree import Node, shown

Tell = Callable[[int, str], None]
"""Called with (line, message) for every error."""


class Shape(Protocol):
    """`read` returns the value, or None after reporting what is wrong with it."""

    def read(self, node: Node, key: str, tell: Tell) -> object | None: ...

    def schema(self) -> dict[str, object]: ...


def near(word: str, known: tuple[str, ...]) -> str:
    """`; did you mean x?` if a known word is similar, else an empty string."""
    found = get_close_matches(word[:80].lower(), known, n=1, cutoff=0.6)
    return f"; did you mean {found[0]}?" if found else ""


class Choice(Struct, frozen=True):
    """One of a few words. A bare false means `off` if that is one of them."""

    words: tuple[str, ...]

    def read(self, node: Node, key: str, tell: Tell) -> str | None:
        if node.shape == "text":
            if node.text in self.words:
                return node.text
            if "off" in self.words and node.says_no:
                return "off"
            if not node.empty:
                listed = ", ".join(self.words)
                tell(node.line, f"{key}: {shown(node.text)} is none of {listed}{near(node.text, self.words)}")
                return None
        tell(node.line, f"{key} wants one of {', '.join(self.words)}")
        return None

    def schema(self) -> dict[str, object]:
        return {"enum": [*self.words, *([False] if "off" in self.words else [])]}


class Text(Struct, frozen=True):
    """A short text. `wrong` returns what is wrong with a value, or None; `pattern` is its shape for editors."""

    noun: str
    wrong: Callable[[str], str | None]
    longest: int = 256
    pattern: str = r"\S"

    def read(self, node: Node, key: str, tell: Tell) -> str | None:
        if node.shape != "text" or node.empty or not node.text.strip():
            tell(node.line, f"{key} wants {self.noun}")
            return None
        if len(node.text) > self.longest:
            tell(node.line, f"{key}: longer than {self.longest} characters")
            return None
        reason = self.wrong(node.text)
        if reason is not None:
            tell(node.line, f"{key}: {shown(node.text)} {reason}")
            return None
        return node.text

    def schema(self) -> dict[str, object]:
        return {"type": "string", "maxLength": self.longest, "pattern": self.pattern}


class Listed(Struct, frozen=True):
    """A list of texts."""

    each: Text
    most: int = 200

    def read(self, node: Node, key: str, tell: Tell) -> tuple[str, ...] | None:
        if node.shape != "list":
            tell(node.line, f"{key} wants a list, one line `- …` for each")
            return None
        if len(node.children) > self.most:
            tell(node.line, f"{key}: more than {self.most} entries")
            return None
        found = [self.each.read(child, key, tell) for child in node.children]
        return tuple(dict.fromkeys(text for text in found if text is not None))

    def schema(self) -> dict[str, object]:
        return {"type": "array", "items": self.each.schema(), "maxItems": self.most}


class Mapped(Struct, frozen=True):
    """A mapping from texts, compared without case, to one of a few words."""

    name: Text
    word: Choice
    most: int = 200

    def read(self, node: Node, key: str, tell: Tell) -> dict[str, str] | None:
        if node.shape != "mapping":
            tell(node.line, f"{key} needs lines of the form `{self.name.noun.split()[-1]}: {self.word.words[0]}`")
            return None
        if len(node.keys) > self.most:
            tell(node.line, f"{key}: more than {self.most} entries")
            return None
        found: dict[str, str] = {}
        for label, child in pairs(node, key, tell, fold=str.lower):
            name = self.name.read(label, key, tell)
            word = self.word.read(child, f"{key}.{shown(label.text, quote='')}", tell)
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


def pairs(node: Node, key: str, tell: Tell, fold: Callable[[str], str] = str) -> list[tuple[Node, Node]]:
    """The entries of a mapping. In YAML the last of two equal keys would win silently; here duplicates are reported."""
    first: dict[str, int] = {}
    found = []
    for name, child in zip(node.keys, node.children, strict=True):
        word = fold(name.text)
        if name.shape != "text":
            tell(name.line, f"{key or 'the file'}: a key must be a plain word")
        elif word in first:
            tell(name.line, f"{shown(name.text)} appears twice, first in line {first[word]}")
        else:
            first[word] = name.line
            found.append((name, child))
    return found
