"""Are names plain: one class per name, no function named by a bare participle or adverb, no banned word in a name?"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.test_repository import CODE, modules, text

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

BANNED = frozenset(
    {
        "told",
        "tell",
        "tells",
        "telling",
        "retell",
        "retold",
        "bury",
        "buried",
        "desk",
        "desks",
        "place",
        "places",
        "workplace",
        "shelf",
        "shelves",
        "door",
        "doors",
        "sheet",
        "sheets",
        "wish",
        "wishes",
        "keeping",
        "sparing",
        "spelling",
        "spellings",
        "spelt",
        "stands",
        "anew",
        "beginning",
        "beginnings",
        "carrier",
        "carriers",
    }
)
"""words in no name: GitHub's and the field's words say the same"""
ONLY_WITH_A_NOUN = frozenset({"alone", "apart", "still", "around", "here", "whole", "shown"})
"""fine beside a noun (`whole_history`), and no names by themselves"""
BANNED_PAIRS = frozenset({("taken", "in"), ("taken", "back"), ("takes", "back"), ("in", "force"), ("beside", "code")})
IRREGULAR = frozenset(
    {
        "told",
        "said",
        "seen",
        "known",
        "found",
        "kept",
        "held",
        "given",
        "taken",
        "shown",
        "made",
        "done",
        "gone",
        "spelt",
        "heard",
        "meant",
        "built",
        "sent",
        "written",
        "chosen",
        "drawn",
        "thrown",
        "grown",
        "begun",
        "broken",
        "driven",
        "hidden",
        "forgotten",
        "left",
        "lost",
        "met",
        "paid",
        "sold",
        "thought",
        "understood",
        "won",
    }
)
ADVERBS = frozenset(
    {
        "apart",
        "alone",
        "around",
        "here",
        "there",
        "still",
        "away",
        "aside",
        "beside",
        "ahead",
        "again",
        "anew",
        "back",
        "beyond",
        "within",
        "without",
        "aloud",
        "together",
        "already",
        "always",
        "never",
        "ever",
        "just",
        "only",
        "merely",
        "nearly",
        "once",
        "twice",
        "now",
        "then",
        "thus",
        "hence",
        "so",
        "very",
        "quite",
        "rather",
        "soon",
        "later",
        "early",
        "besides",
        "above",
        "below",
        "behind",
        "nearby",
    }
)
NO_PARTICIPLE = frozenset(
    {
        "need",
        "feed",
        "seed",
        "speed",
        "embed",
        "bed",
        "red",
        "shed",
        "exceed",
        "proceed",
        "succeed",
        "spring",
        "string",
        "thing",
        "king",
        "ring",
        "sing",
        "bring",
        "ping",
        "wing",
        "sling",
        "swing",
        "heading",
        "setting",
        "building",
        "meaning",
        "during",
        "sibling",
        "ceiling",
        "encoding",
        "spelling",
        "mapping",
        "ordering",
        "timing",
        "warning",
        "rating",
        "finding",
    }
)
"""words that only end like one, and nouns in -ing"""
VERBS_LIKE_PARTICIPLES = frozenset(
    {"read", "set", "put", "let", "cut", "split", "reset", "hit", "cost", "shut", "run", "come", "become"}
)


def parts(name: str) -> tuple[str, ...]:
    """The words of a snake_case or CamelCase name, in small letters."""
    return tuple(found.lower() for found in _PART.findall(name))


def is_participle(word: str) -> bool:
    if word in NO_PARTICIPLE | VERBS_LIKE_PARTICIPLES:
        return False
    return word in IRREGULAR or (len(word) > 4 and word.endswith(("ed", "ing")))


def is_bare(name: str) -> bool:
    """Whether a function's name says neither what it does nor what it returns: `told`, `apart`, `taken_by`."""
    if name in PLAIN_AS_THEY_ARE or name.endswith(_TIMES):
        return False
    words = [word for word in parts(name) if not word.isdigit()]
    weak = [is_participle(word) or word in ADVERBS or word in _LINKS for word in words]
    return bool(words) and all(weak) and any(word not in _LINKS for word in words) and not name.startswith(_QUESTIONS)


_LINKS = frozenset(
    {
        "in",
        "by",
        "of",
        "at",
        "on",
        "to",
        "for",
        "from",
        "with",
        "as",
        "and",
        "or",
        "not",
        "out",
        "up",
        "off",
        "over",
        "into",
    }
)
PLAIN_AS_THEY_ARE = {"now": "a clock's answer has no other name"}
"""names of one participle or adverb that are good English -> why"""
_TIMES = "_at"
"""`created_at` and its like name a moment, as columns and GitHub's own fields do"""
_PROPERTIES = frozenset({"property", "cached_property", "setter"})
"""a property is read as a field is: `change.counted`, `settings.paused`"""
_QUESTIONS = ("is_", "are_", "was_", "has_", "can_", "may_", "must_")


def _definitions(
    kind: tuple[type[ast.AST], ...],
) -> Iterator[tuple[str, ast.AST]]:
    for path in modules(*CODE):
        if "/migrations/versions/" not in path:
            for node in ast.walk(ast.parse(text(path) or "")):
                if isinstance(node, kind):
                    yield path, node


def _names(node: ast.AST) -> Iterator[str]:
    """The names that a node gives to something."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.attr


def _is_property(node: ast.AST) -> bool:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any(re.split(r"\W", ast.unparse(one))[-1] in _PROPERTIES for one in decorators)


def test_no_class_name_is_used_twice() -> None:
    found: dict[str, list[str]] = defaultdict(list)
    for path, node in _definitions((ast.ClassDef,)):
        found[next(_names(node))].append(path)
    assert {name: paths for name, paths in sorted(found.items()) if len(paths) > 1} == {}


def test_a_public_function_is_not_named_by_a_bare_participle_or_adverb() -> None:
    found = {
        f"{path}: {name}"
        for path, node in _definitions((ast.FunctionDef, ast.AsyncFunctionDef))
        for name in _names(node)
        if not name.startswith("_") and is_bare(name) and not _is_property(node)
    }
    assert sorted(found) == []


def test_no_identifier_and_no_module_has_a_banned_word() -> None:
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.arg, ast.Name, ast.Attribute)
    named = {(path, name) for path, node in _definitions(kinds) for name in _names(node)}
    named |= {(path, path.removesuffix(".py").replace("/", "_")) for path in modules(*CODE)}
    found = sorted(f"{path}: {name}" for path, name in named if has_banned_word(name))
    assert found == []


def has_banned_word(name: str) -> bool:
    words = parts(name)
    if len(words) == 1 and words[0] in ONLY_WITH_A_NOUN:
        return True
    return bool(BANNED & set(words)) or any(pair in BANNED_PAIRS for pair in pairwise(words))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("parse_HTTPRequest2", ("parse", "http", "request", "2")),
        ("TokenStore", ("token", "store")),
        ("_told", ("told",)),
    ],
)
def test_a_name_is_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert parts(name) == words


@pytest.mark.parametrize("name", ["told", "apart", "_given_by", "taken_in", "counted", "seen_again", "as_told"])
def test_a_bare_participle_or_adverb_is_found(name: str) -> None:
    assert is_bare(name)


@pytest.mark.parametrize(
    "name",
    [
        "is_seen",
        "parsed_patch",
        "read",
        "feed",
        "string",
        "counted_lines",
        "settings",
        "setting",
        "found_in_clone",
        "now",
        "created_at",
    ],
)
def test_a_name_with_a_noun_or_verb_is_fine(name: str) -> None:
    assert not is_bare(name)
