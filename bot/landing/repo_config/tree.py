"""How does a configuration file's YAML become a small tree in which every node has its line number?

Strangers write these files. Events are read one at a time and reading stops at the first excess, so neither multiplying
aliases nor endless nesting is ever expanded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

LARGEST = 64 * 1024
"""largest file, in bytes"""
_DEEPEST = 6
_MOST_NODES = 5_000
_PLAIN_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "bool", "int", "float", "null", "map", "seq"))
_FALSE = frozenset(("off", "no", "false", "n"))


class Problem(Struct, frozen=True, order=True):
    """One error and its line, counted from 1."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class ExcessError(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(line, message)


@dataclass(slots=True)
class Node:
    """A scalar (`text`), a list (`children`) or a mapping (`keys` and `children` in parallel)."""

    shape: str
    line: int
    text: str = ""
    quoted: bool = False
    keys: list[Node] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether nothing is written where a value belongs."""
        return self.shape == "text" and not self.quoted and self.text.lower() in ("", "~", "null")

    @property
    def is_false(self) -> bool:
        """Whether the text means false: YAML 1.1 reads a bare `off` so, as do the editors that check the schema."""
        return self.shape == "text" and not self.quoted and self.text.lower() in _FALSE


def read_tree(text: str) -> Node | Problem | None:
    """The tree of the text; None if it is empty. Never raises: a Problem is returned for unreadable text."""
    import yaml  # imported here: takes 60 ms, needed only for a configuration file

    text = text.removeprefix("\ufeff")
    try:
        if len(text.encode()) > LARGEST:
            return Problem(1, f"the file is larger than {LARGEST // 1024} KB")
        return _build_tree(yaml, text)
    except ExcessError as excess:
        return excess.problem
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        why = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
        return Problem(mark.line + 1 if mark else 1, f"not valid YAML: {quote_text(str(why), 120, '')}")
    except UnicodeError:
        return Problem(1, "the file contains characters that are not text")
    except (ValueError, OverflowError):
        return Problem(1, "not valid YAML: a number or an escape is out of range")


def _build_tree(yaml: Any, text: str) -> Node | None:
    top = Node("list", 1)
    open_nodes: list[Node] = [top]
    documents = count = 0
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise ExcessError(line, "a second document starts here; write everything in one")
        elif isinstance(event, yaml.CollectionEndEvent):
            open_nodes.pop()
        elif isinstance(event, yaml.NodeEvent):
            count += 1
            node = _node(yaml, event, line)
            _check_limits(node, count, len(open_nodes))
            _attach(open_nodes[-1], node)
            if node.shape != "text":
                open_nodes.append(node)
    return top.children[0] if top.children else None


def _node(yaml: Any, event: Any, line: int) -> Node:
    if isinstance(event, yaml.AliasEvent) or event.anchor:
        raise ExcessError(line, "anchors and aliases (& and *) are not supported; write the value itself")
    if event.tag not in (None, "!") and event.tag not in _PLAIN_TAGS:
        raise ExcessError(line, f"the tag {quote_text(event.tag)} is not supported; write a plain value")
    if isinstance(event, yaml.ScalarEvent):
        if any("\ud800" <= sign <= "\udfff" or sign < " " for sign in event.value):
            raise ExcessError(line, "a value contains line breaks or characters that are not text")
        return Node("text", line, event.value, quoted=not event.implicit[0])
    return Node("mapping" if isinstance(event, yaml.MappingStartEvent) else "list", line)


def _check_limits(node: Node, count: int, depth: int) -> None:
    if count > _MOST_NODES:
        raise ExcessError(node.line, f"more than {_MOST_NODES:,} values")
    if depth > _DEEPEST:
        raise ExcessError(node.line, "nested deeper than any key")


def _attach(parent: Node, node: Node) -> None:
    """Keys and values alternate within a mapping."""
    if parent.shape == "mapping" and len(parent.keys) == len(parent.children):
        parent.keys.append(node)
    else:
        parent.children.append(node)


def quote_text(text: str, longest: int = 40, quote: str = "'") -> str:
    """The text as quoted in a message: one line, truncated."""
    plain = "".join(sign if sign.isprintable() else "\ufffd" for sign in text[: longest + 1])
    return f"{quote}{plain if len(plain) <= longest else plain[:longest] + '…'}{quote}"
