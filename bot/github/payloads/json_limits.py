"""Does JSON stay within what every reader of it understands: finite 64-bit numbers, nothing nested deeper than 64?

Nearly every body does, and simdjson refuses other numbers by itself. What it refuses, and what holds many brackets, is
looked through here, slowly.
"""

from __future__ import annotations

import json
import math
from typing import Any

DEEPEST = 64
"""lists and objects within each other"""
SMALLEST, LARGEST = -(2**63), 2**64 - 1
"""of the numbers without a fraction"""


def may_be_deep(body: bytes) -> bool:
    """Whether enough is opened to nest too deeply; brackets in texts count as well."""
    return _opened(body, b"{") + _opened(body, b"[") > DEEPEST


def _opened(body: bytes, bracket: bytes) -> int:
    """How often it is there, where not too often. Of bytes' methods only `find` goes faster than byte by byte."""
    found, at = 0, body.find(bracket)
    while at >= 0 and found <= DEEPEST:
        found, at = found + 1, body.find(bracket, at + 1)
    return found


def read_within_limits(body: bytes) -> Any:
    """What the JSON says. Raises ValueError where it is no JSON in UTF-8, or beyond the limits."""
    try:
        whole = json.loads(body.decode("utf-8"), parse_constant=_refused, parse_int=_bounded, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    level = [whole]
    for _ in range(DEEPEST + 1):
        level = [inner for one in level for inner in _within(one)]
        if not level:
            return whole
    raise ValueError("nested too deeply")


def _within(one: Any) -> list[Any]:
    if isinstance(one, dict):
        return list(one.values())
    return one if isinstance(one, list) else []


def _refused(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _bounded(digits: str) -> int:
    if len(digits) > 20 or not SMALLEST <= int(digits) <= LARGEST:
        raise ValueError("a number of more than 64 bits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number without end")
    return number
