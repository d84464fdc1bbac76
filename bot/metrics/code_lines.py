"""Which lines of a patch are code, neither blank nor comment nor docstring?"""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_READ = 400
"""characters of a line that are read: a hostile line costs no more than an ordinary one"""

_COMMENTS = ("#", "//", "/*", "*/", "* ", "--", "<!--", ";;", "%%", "'''", '"""')
_COMMENT_STARTS = frozenset("".join(mark[0] for mark in _COMMENTS))
_NOT_COMMENTS = ("#include", "#define", "#if", "#el", "#endif", "#[", "#![", "#pragma", "#import", "--option", "#{")


def code_lines(lines: Sequence[str], language: str | None) -> list[str]:
    """The lines that are neither blank nor comment, with their indentation, cut to a bounded length."""
    if language == "Python":
        lines = _without_docstrings(lines)
    return _bounded(
        [
            line
            for line in lines
            if (text := line.lstrip())
            and (text[0] not in _COMMENT_STARTS or not text.startswith(_COMMENTS) or text.startswith(_NOT_COMMENTS))
        ]
    )


def _bounded(lines: list[str]) -> list[str]:
    wide = max(map(len, lines), default=0) > LONGEST_READ
    return [line[:LONGEST_READ] for line in lines] if wide else lines


def _without_docstrings(lines: Sequence[str]) -> Sequence[str]:
    """Without the lines of strings that begin a line, as a docstring does; what a patch shows half is half known."""
    text = "\n".join(lines)
    if '"""' not in text and "'''" not in text:
        return lines
    kept: list[str] = []
    within, behind = "", 0
    for at in [at for at, line in enumerate(lines) if '"""' in line or "'''" in line]:
        line, before, behind = lines[at], behind, at + 1
        if within:
            within = "" if within in line else within
            continue
        kept += lines[before:at]
        start = line.lstrip().lstrip("rRbBuUfF")[:3]
        if start not in ('"""', "'''"):
            kept.append(line)
        elif line.count(start) < 2:
            within = start
    return kept if within else kept + list(lines[behind:])
