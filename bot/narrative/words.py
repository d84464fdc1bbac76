"""How does a sentence of ours say a number, a month, a span or a list?"""

from __future__ import annotations

from collections.abc import Sequence

MONTH_NAMES = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def month_name(month: str) -> str:
    """`2025-06` as "June 2025"."""
    return f"{MONTH_NAMES[int(month[5:7]) - 1]} {month[:4]}"


def month_span(first: str, last: str) -> str:
    """`in June 2025`, `between June and October 2025`, `between June 2025 and May 2026`."""
    if first == last:
        return f"in {month_name(first)}"
    begin = month_name(first)[:-5] if first[:4] == last[:4] else month_name(first)
    return f"between {begin} and {month_name(last)}"


def number(count: int) -> str:
    """`3` as "three", from ten on in digits with thousands separated."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else f"{count:,}"


def quantity(count: int, one: str, many: str | None = None) -> str:
    """`one commit`, `three commits`, `12 commits`."""
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def digits(count: int, one: str, many: str | None = None) -> str:
    """`1 commit`, `3 commits`: for notes and lists of counts."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def join_list(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else "".join(parts)


def capitalise(text: str) -> str:
    """The text with its first letter raised, as a sentence begins."""
    return text[:1].upper() + text[1:]
