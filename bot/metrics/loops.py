"""Which known slow patterns do loops and asynchronous code in added lines contain?

Blocks are found by indentation, which hand-written code in nearly every language has; a patch shows only parts of
functions, so the result is a lower bound.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LOOP = re.compile(r"(?:async |await |\} )?(?:for|while|foreach|until|loop)\b")
_LOOP_STARTS = frozenset("fwula}")
_CALLED_LOOPS = (".forEach(", ".each do", ".each {")
_OPENED = re.compile(
    r"\n(?:(?:async |await |\} )?(?:for|while|foreach|until|loop)\b"
    r"|(?:export |pub |static |public |private )?async (?:def|fn|function)\b)"
)
"""a loop or an asynchronous function, in lines without their indentation"""
_COSTLY = re.compile(
    r"(?<![\w.])(?:open|urlopen|fetch|File\.(?:open|read)|fopen|popen)\("
    r"|\b(?:requests|httpx|axios|http|client|session)\.(?:get|post|put|delete|request|Get|Post|Do)\("
    r"|\.(?:execute|executemany|query|Query|QueryRow|Exec|find_one|findOne|fetchall|fetchone)\("
    r"|\bre\.(?:compile|match|search|sub|findall)\(|\bnew RegExp\(|\bregexp\.(?:MustCompile|Compile)\(|\bRegex::new\("
    r"|\bsubprocess\.\w{1,20}\(|\bos\.system\(|\b(?:readFileSync|writeFileSync|execSync)\(|\bdeepcopy\("
)
_QUADRATIC = re.compile(
    r"\.insert\(0,|\.pop\(0\)|\.unshift\(|\.remove\(|\+= ?f?[\"'`]|\bin (?:list|sorted)\(|\.indexOf\(|\.index\("
    r"|\.includes\(|\bsorted\(|\.sort\(|\.count\("
)
_ASYNC = re.compile(r"(?:export |pub |static |public |private )?async (?:def|fn|function)\b")
_ASYNC_STARTS = frozenset("aeps")
_BLOCKING = re.compile(
    r"\btime\.sleep\(|\brequests\.(?:get|post|put|delete|request)\(|(?<![\w.])(?:open|urlopen|input)\("
    r"|\bsubprocess\.(?:run|call|check_\w{1,10})\(|\bos\.system\(|\b(?:read|write|exists|exec)(?:File)?Sync\("
    r"|\bthread::sleep\(|\bstd::fs::\w{1,20}\("
)
_MOST_LINES = 20_000


def loop_signals(code: Sequence[str]) -> dict[str, int]:
    """Nested loops, costly calls and quadratic idioms inside loops, blocking calls inside asynchronous functions.

    Only the lines inside a loop or such a function are examined one by one.
    """
    found = {"nested_loops": 0, "loop_calls": 0, "loop_quadratic": 0, "async_blocking": 0}
    code = code[:_MOST_LINES]
    texts = list(map(str.lstrip, code))
    together = "\n" + "\n".join(texts)
    calls = tuple(call for call in _CALLED_LOOPS if call in together)
    at = 0
    for opening in _openings(texts, together, calls):
        if opening >= at:
            at = _follow_block(code, texts, opening, calls, found=found)
    return found


def _openings(texts: Sequence[str], together: str, calls: Sequence[str]) -> Sequence[int]:
    """The indexes of the lines that open a loop or an asynchronous function."""
    found: list[int] = []
    line = before = 0
    for match in _OPENED.finditer(together):
        line += together.count("\n", before, match.start())
        before = match.start()
        found.append(line)
    if calls:
        found += [at for at, text in enumerate(texts) if any(call in text for call in calls)]
        found.sort()
    return found


def _follow_block(
    code: Sequence[str], texts: Sequence[str], start: int, calls: Sequence[str], *, found: dict[str, int]
) -> int:
    """Examine the lines from `start` until every open block has ended; return the index of the next line."""
    loops: list[int] = []
    functions: list[int] = []
    for at in range(start, len(code)):
        text = texts[at]
        first = text[0]
        indent = len(code[at]) - len(text)
        if at > start:
            inside = indent + (first in "})]")  # `} else {` belongs to the block it closes
            _leave(loops, inside)
            _leave(functions, inside)
            _count_signals(text, found, looping=bool(loops), asynchronous=bool(functions))
        if (first in _LOOP_STARTS and _LOOP.match(text)) or (calls and any(call in text for call in calls)):
            found["nested_loops"] += bool(loops)
            loops.append(indent)
        elif first in _ASYNC_STARTS and _ASYNC.match(text):
            functions.append(indent)
        elif not loops and not functions:
            return at + 1
    return len(code)


def _leave(blocks: list[int], indent: int) -> None:
    """Remove the blocks that a line with this indentation ends."""
    while blocks and indent <= blocks[-1]:
        blocks.pop()


def _count_signals(text: str, found: dict[str, int], *, looping: bool, asynchronous: bool) -> None:
    call = "(" in text
    if asynchronous and call:
        found["async_blocking"] += _BLOCKING.search(text) is not None
    if looping and (call or "+=" in text):
        found["loop_calls"] += call and _COSTLY.search(text) is not None
        found["loop_quadratic"] += _QUADRATIC.search(text) is not None
