"""Does JSON stay within what every reader of it understands: finite 64-bit numbers, nothing nested deeper than 64?

Nearly every delivery does, so a sieve looks at the bytes alone; what it cannot clear is parsed and looked through.
"""

from __future__ import annotations

import json
import math
from typing import Any

DEEPEST = 64
"""lists and objects within each other"""
LARGEST = 2**63
"""the absolute value that a number without a fraction stays below"""
_LONG = b"0" * 19
_LONG_NUMBERS = tuple(before.encode() + _LONG for before in " \t\r\n:,[-.")
"""as they begin in JSON, or behind the point"""
_AS_NOUGHT = bytes.maketrans(b"123456789", b"0" * 9)
_NOT_NESTING = bytes(set(range(256)) - set(b"[]{}"))


def unlikely(body: bytes) -> bool:
    """Whether the bytes may hold more than is allowed; texts that hold such words or brackets are as unlikely."""
    return (
        b"NaN" in body
        or b"Infinity" in body
        or _has_long_number(body.translate(_AS_NOUGHT))
        or _is_deep(body.translate(None, _NOT_NESTING))
    )


def check_limits(body: bytes) -> None:
    """Raises ValueError where it is no JSON in UTF-8, or beyond the limits."""
    try:
        whole = json.loads(body.decode("utf-8"), parse_constant=_refused, parse_int=_bounded, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    level = [whole]
    for _ in range(DEEPEST + 1):
        level = [inner for one in level for inner in _within(one)]
        if not level:
            return
    raise ValueError("nested too deeply")


def _has_long_number(noughts: bytes) -> bool:
    """Digits behind a quote or a letter are text: a branch that is new or gone has a commit of forty noughts."""
    return _LONG in noughts and any(number in noughts for number in _LONG_NUMBERS)


def _is_deep(brackets: bytes) -> bool:
    for _ in range(DEEPEST):
        if not brackets:
            return False
        brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
    return bool(brackets)


def _within(one: Any) -> list[Any]:
    if isinstance(one, dict):
        return list(one.values())
    return one if isinstance(one, list) else []


def _refused(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _bounded(digits: str) -> int:
    if len(digits) > 20 or not -LARGEST <= int(digits) < LARGEST:
        raise ValueError("a number of more than 64 bits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number without end")
    return number
