"""What the loops and the asynchronous code of added lines do that is known to be slow.

Read by indentation, which hand-written code of nearly every language keeps; a patch shows parts of functions, so what
is found is a lower bound.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LOOP = re.compile(
    r"(?:async |await |\} |'\w+: |\w+: )?(?:for|while|foreach|until|loop)\b|.{0,200}(?:\.forEach\(|\.each do\b)"
)
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
_BLOCKING = re.compile(
    r"\btime\.sleep\(|\brequests\.(?:get|post|put|delete|request)\(|(?<![\w.])(?:open|urlopen|input)\(|\bsubprocess\.(?:run|call|check_\w{1,10})\("
    r"|\bos\.system\(|\b(?:readFileSync|writeFileSync|execSync|existsSync)\(|\bthread::sleep\(|\bstd::fs::\w{1,20}\("
)
_MOST_LINES = 20_000


def loop_signals(code: Sequence[str]) -> dict[str, int]:
    """Nested loops, costly calls and quadratic idioms inside loops, blocking calls inside asynchronous functions."""
    found = {"nested_loops": 0, "loop_calls": 0, "loop_quadratic": 0, "async_blocking": 0}
    loops: list[int] = []
    functions: list[int] = []
    for line in code[:_MOST_LINES]:
        text = line.lstrip()
        indent = len(line) - len(text)
        if text[0] in "})]":
            indent += 1  # closes the block that its own column opened, as `} else {` does
        while loops and indent <= loops[-1]:
            loops.pop()
        while functions and indent <= functions[-1]:
            functions.pop()
        if functions and _BLOCKING.search(text):
            found["async_blocking"] += 1
        if loops:
            found["loop_calls"] += _COSTLY.search(text) is not None
            found["loop_quadratic"] += _QUADRATIC.search(text) is not None
        if _LOOP.match(text):
            found["nested_loops"] += bool(loops)
            loops.append(indent)
        elif _ASYNC.match(text):
            functions.append(indent)
    return found
