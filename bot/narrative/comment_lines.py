"""Which lines of a Markdown comment does its writer say: not quoted, not code, not hidden?

A scan of lines in one pass, whatever the text: a full Markdown parser takes seconds for what a stranger can write.
Where the two could differ the scan leaves a line out: a command that is not heard can be said again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 65_536
_LIST_MARK = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])[ \t]+")
_RAW = {"<!--": "-->", "<?": "?>", "<![cdata[": "]]>"} | {
    f"<{tag}": f"</{tag}" for tag in ("pre", "script", "style", "textarea")
}
"""what begins raw HTML, and what ends it: https://spec.commonmark.org/0.31.2/#html-blocks"""


def comment_lines(text: str) -> list[str]:
    """The lines without what surrounds them; trailing white space is removed."""
    own_lines: list[str] = []
    paragraph: list[str] = []
    for line in [*_visible(text[:LONGEST]), ""]:
        if line and line.strip():
            paragraph.append(line)
        else:
            own_lines += _outside_code(paragraph, unfinished=line is None)
            paragraph = []
    return own_lines


def _visible(text: str) -> Iterator[str | None]:
    """Every line; None for those in fences, quotes and raw HTML."""
    scan = _Scan()
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        yield line.rstrip() if scan.shows(line) else None


@dataclass(slots=True)
class _Scan:
    """Where in a text the scan is. `quoted` lasts to the end of a paragraph, the others until they are closed."""

    fence: str = ""
    raw: str = ""
    quoted: bool = False
    set_off: bool = False
    """inside `<blockquote>`"""

    def shows(self, line: str) -> bool:
        bare, lower = line.lstrip(" "), line.lower()
        if self.fence:
            self.fence = "" if _closes(line, self.fence) else self.fence
        elif self.raw:
            self.raw = "" if self.raw in lower else self.raw
        elif not bare.strip():
            self.quoted = False
        elif opened := _opened_fence(line, bare):
            self.fence, self.quoted = opened, False
        elif bare.startswith("<") and (closing := _closing(bare.lower())):
            self.raw, self.quoted = ("" if closing in bare.lower()[2:] else closing), True
        else:
            return self._shows_text(bare, lower)
        return False

    def _shows_text(self, bare: str, lower: str) -> bool:
        """A line below a quote, or below HTML that may hide something, belongs to it until an empty one comes."""
        if _past_list_marks(bare).startswith(">") or "<!--" in lower or "<?" in lower:
            self.quoted = True
        if "<blockquote" in lower or "</blockquote" in lower:
            self.set_off = lower.rfind("<blockquote") > lower.rfind("</blockquote")
            self.quoted = True
        return not self.quoted and not self.set_off


def _past_list_marks(bare: str) -> str:
    """What stands behind the marks of a list's items: a quote there goes on like any other."""
    at = 0
    while mark := _LIST_MARK.match(bare, at):
        at = mark.end()
    return bare[at:]


def _opened_fence(line: str, bare: str) -> str:
    """The run of characters that opens a fenced block here, if one does."""
    mark = bare[:1]
    if mark not in ("`", "~") or len(line) - len(bare) > 3:
        return ""
    run = bare[: len(bare) - len(bare.lstrip(mark))]
    return run if len(run) >= 3 and not (mark == "`" and "`" in bare[len(run) :]) else ""


def _closes(line: str, fence: str) -> bool:
    bare = line.lstrip(" ").rstrip(" \t")
    indent = len(line) - len(line.lstrip(" "))
    return indent <= 3 and len(bare) >= len(fence) and not bare.strip(fence[0])


def _closing(line: str) -> str:
    """What ends the raw HTML that this line begins; empty where it begins none."""
    for opening, closing in _RAW.items():
        after = line[len(opening) : len(opening) + 1]
        if line.startswith(opening) and (closing[0] != "<" or after in ("", " ", ">", "\t")):
            return closing
    return ""


def _outside_code(paragraph: list[str], *, unfinished: bool) -> list[str]:
    """The lines of a paragraph that do not begin inside a code span; it may end in a line that is left out, where the
    paragraph is `unfinished`."""
    if sum(line.count("`") for line in paragraph) < 2 - unfinished or len(paragraph) < 2:
        return paragraph
    text = "\n".join(paragraph)
    spans = _code_spans(text, unfinished=unfinished)
    found, at, index = [], 0, 0
    for line in paragraph:
        while index < len(spans) and spans[index][1] <= at:
            index += 1
        if index == len(spans) or not spans[index][0] < at < spans[index][1]:
            found.append(line)
        at += len(line) + 1
    return found


def _code_spans(text: str, *, unfinished: bool) -> list[tuple[int, int]]:
    """Begin and end of each code span: a run of back-ticks and the next run of the same length, or where the text is
    `unfinished` and has none, its end."""
    runs = _runs(text)
    after: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        after.setdefault(runs[index][1], []).append(index)
    spans: list[tuple[int, int]] = []
    index = 0
    while index < len(runs):
        begin, length = runs[index]
        same = after[length]
        while same and same[-1] <= index:
            same.pop()
        # An escaped back-tick opens nothing for a parser; here it does, and at worst a line is left out.
        if same:
            end = runs[same[-1]][0] + length
            spans.append((begin, end))
            index = same[-1] + 1
        elif unfinished:
            return [*spans, (begin, len(text))]
        else:
            index += 1
    return spans


def _runs(text: str) -> list[tuple[int, int]]:
    """Position and length of every run of back-ticks."""
    runs: list[tuple[int, int]] = []
    at = text.find("`")
    while at >= 0:
        end = at
        while end < len(text) and text[end] == "`":
            end += 1
        runs.append((at, end - at))
        at = text.find("`", end)
    return runs
