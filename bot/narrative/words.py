"""Where do the words of the texts come from: the phrase file and the verb file, read once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from bot.model.ids import Month

LAST_NUMBER_IN_WORDS = 12
"""numbers up to here are written in words inside a sentence"""


@cache
def phrases() -> Mapping[str, Any]:
    """The phrase file, as tables of templates."""
    return tomllib.loads(files("bot.narrative").joinpath("phrases.toml").read_text("utf-8"))


@cache
def lexicon() -> Mapping[str, Any]:
    """The verb file, as it stands."""
    return tomllib.loads(files("bot.narrative").joinpath("verbs.toml").read_text("utf-8"))


@cache
def word_set(table: str) -> frozenset[str]:
    """One of the word lists of the verb file."""
    return frozenset(lexicon()[table].split())


def fill_phrase(table: str, key: str, **values: object) -> str:
    """A template of the phrase file, its first variant where it has several, filled in."""
    template = phrases()[table][key]
    return str(template if isinstance(template, str) else template[0]).format(**values)


def number(count: int) -> str:
    """`3` as "three", from 13 on in digits with thousands separated."""
    return number_in_words(count) if 0 <= count <= LAST_NUMBER_IN_WORDS else f"{count:,}"


def number_in_words(count: int) -> str:
    """A number under 100 in words."""
    small: Sequence[str] = phrases()["numbers"]
    large: Sequence[str] = phrases()["tens"]
    tens, ones = divmod(count, 10)
    if count < len(small):
        return small[count]
    return large[tens - 2] + (f"-{small[ones]}" if ones else "")


def quantity(count: int, noun: str) -> str:
    """`(1, "commit")` as "one commit", `(3, "commit")` as "three commits"."""
    one, many = phrases()["nouns"][noun]
    return f"{number(count)} {one if count == 1 else many}"


def month_name(month: Month) -> str:
    """`2025-06` as "June 2025"."""
    return f"{phrases()['months'][int(month[5:7]) - 1]} {month[:4]}"


def join_list(parts: Sequence[str]) -> str:
    """Parts as one list in words; semicolons where a part has a comma or an "and" of its own."""
    words: Mapping[str, str] = phrases()["lists"]
    if len(parts) < 2:
        return "".join(parts)
    if any("," in part or words["and"] in part for part in parts):
        last = words["last_semicolon"] if len(parts) > 2 else words["comma"] + words["and"].lstrip()
        return words["semicolon"].join(parts[:-1]) + last + parts[-1]
    return words["comma"].join(parts[:-1]) + words["and"] + parts[-1]


def sentence_case(text: str) -> str:
    """The text as a sentence begins: first letter raised, a leading number in words. It begins with words of ours."""
    first, _, rest = text.partition(" ")
    if first.isdigit() and int(first) < 100:
        text = f"{number_in_words(int(first))} {rest}"
    elif first[:1].isdigit():
        return fill_phrase("lists", "in_all", text=text)
    return text[:1].upper() + text[1:]
