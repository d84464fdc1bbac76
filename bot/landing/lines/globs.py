"""Does a path match a pattern, as git matches them in .gitattributes?

Each stretch between two stars is matched at its first position and never retried, which is all a star needs: a pattern
with many stars stays as fast as a search.
"""

from __future__ import annotations

import re
from functools import lru_cache

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_NEVER = "(?!)"


@lru_cache(maxsize=4_096)
def glob(pattern: str, base: str = "") -> re.Pattern[str]:
    """The expression to `match` against a path from the root, for a pattern in the attributes file of folder `base`.

    A pattern without a slash matches the file's name, any other the path from `base`. A pattern that ends in a slash
    names a folder, and folders have no attributes: it matches nothing.
    """
    root = re.escape(base)
    if pattern.endswith("/") or not pattern:
        return re.compile(_NEVER)
    if "/" not in pattern:
        return re.compile(rf"{root}(?:[^/]*+/)*+{_component(pattern)}\Z", re.DOTALL)
    return re.compile(root + _path(pattern.removeprefix("/").split("/")) + r"\Z", re.DOTALL)


def _path(components: list[str]) -> str:
    """The expression for a pattern of several components; `**` matches any number of folders."""
    blocks: list[list[str]] = [[]]
    for component in components:
        if len(component) > 1 and not component.strip("*"):
            blocks.append([])
        else:
            blocks[-1].append(component)
    out = "".join(f"{_component(one)}/" for one in blocks[0])
    if len(blocks) == 1:
        return out[:-1]
    for block in blocks[1:-1]:
        out += f"(?>(?:[^/]*+/)*?{''.join(f'{_component(one)}/' for one in block)})" if block else ""
    if not blocks[-1]:
        return out + ".+"
    return out + rf"(?>(?:[^/]*+/)*?{'/'.join(map(_component, blocks[-1]))}\Z)"


def _component(pattern: str) -> str:
    """The expression for one name. Stars in it never match a slash."""
    pieces: list[str] = []
    tokens: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "*":
            pieces.append("".join(tokens))
            tokens = []
            at += 1
            continue
        token, at = _token(pattern, at)
        tokens.append(token)
    if not pieces:
        return "".join(tokens)
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:] if piece)
    last = "".join(tokens)
    return rf"{pieces[0]}{middle}[^/]*{last}(?=/|\Z)" if last else f"{pieces[0]}{middle}[^/]*+"


def _token(pattern: str, at: int) -> tuple[str, int]:
    """The expression for one character of the pattern, and the position of the next."""
    character = pattern[at]
    if character == "?":
        return "[^/]", at + 1
    if character == "[":
        return _bracket(pattern, at)
    if character == "\\":
        return (re.escape(pattern[at + 1]), at + 2) if at + 1 < len(pattern) else (_NEVER, at + 1)
    return re.escape(character), at + 1


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """A bracket expression; one that is never closed matches nothing."""
    index = at + 1
    negated = pattern[index : index + 1] in ("!", "^") and index < len(pattern)
    index += negated
    items: list[str] = []
    while index < len(pattern) and (pattern[index] != "]" or not items):
        if pattern.startswith("[:", index) and ":]" in pattern[index + 2 :]:
            end = pattern.index(":]", index + 2)
            if pattern[index + 2 : end] not in _CLASSES:
                return _NEVER, len(pattern)
            items.append(_CLASSES[pattern[index + 2 : end]])
            index = end + 2
            continue
        low, index = _member(pattern, index)
        if pattern[index : index + 1] == "-" and pattern[index + 1 : index + 2] not in ("]", ""):
            high, index = _member(pattern, index + 1)
            items.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else "")
        else:
            items.append(re.escape(low))
    if index >= len(pattern):
        return _NEVER, len(pattern)
    body = "".join(items)
    if not body:
        return ("[^/]" if negated else _NEVER), index + 1
    return (f"(?!/)[^{body}]" if negated else f"(?!/)[{body}]"), index + 1


def _member(pattern: str, index: int) -> tuple[str, int]:
    if pattern[index] == "\\" and index + 1 < len(pattern):
        return pattern[index + 1], index + 2
    return pattern[index], index + 1
