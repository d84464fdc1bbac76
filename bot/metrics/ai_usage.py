"""Which AI tools does a commit disclose, and how much of a record is disclosed?

Only explicit traces of a tool or its user count: line notes, identities, trailers, footers, branch, links of the pull
request. Style is never judged, and no trace means unknown, not human. The result is a lower bound: docs/metrics.md says
how much disclosure misses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from bot.landing.message.lines import read_message
from bot.landing.message.trailers import trailers
from bot.metrics.ai_lines import attribution_candidates, branch_tool, find_session, line_tool, tool_of
from bot.metrics.ai_notes import ai_lines
from bot.model.commit import Commit, PullRequest, Signature
from bot.model.fact import AiMark, Fact
from bot.model.ids import ChangeId
from bot.model.profile import AiTrace, AiUsage

DECLARED_LEVELS = frozenset((1, 3, 4))
"""stated by a person, or by a tool in the person's name; levels 2 and 5 are detected from the agent's own account"""

MOST_MARKS = 16
_LONGEST_SOURCE = 200
_VERBS = (
    *("generated", "created", "made", "built", "written", "authored", "implemented", "developed", "coded", "drafted"),
    *("assisted", "ultraworked", "programmed"),
)
_MAY = re.compile(
    r"(?:[^\w\n]|_){0,10}(?:[A-Za-z][A-Za-z -]{1,38}:"
    r"|(?:this \w{2,6} (?:request )?(?:was|has been) )?(?:ai[- ]|co-|pair[- ]|vibe[- ])?"
    rf"(?:{'|'.join(_VERBS)})\b"
    r"|https?://)",
    re.IGNORECASE,
)
_SQUASHED = "Squashed commit of the following"
_FENCES = ("```", "~~~")


def marks(commit: Commit, pull_request: PullRequest | None = None, notes: str | None = None) -> tuple[AiMark, ...]:
    """The disclosed traces on one landed commit, strongest level first, one for each tool and level.

    `pull_request` adds its author, branch and body, and the trailers of its own commits if it was squashed into this
    one: then the mark says so, because it is an upper bound for the commit. `notes` is the commit's text under
    refs/notes/ai. The levels: docs/metrics.md, AI usage.
    """
    found: dict[tuple[str, int], AiMark] = {}
    for mark in _all_marks(commit, pull_request, notes):
        found.setdefault((mark.tool, mark.level), mark)
    return tuple(sorted(found.values(), key=lambda mark: mark.level)[:MOST_MARKS])


def _all_marks(commit: Commit, pull_request: PullRequest | None, notes: str | None) -> Iterator[AiMark]:
    if notes:
        for tool, count in ai_lines(notes).items():
            yield AiMark(1, tool, f"line notes: {count} {'line' if count == 1 else 'lines'}")
    yield from _signature_marks(commit.author, "author")
    if commit.committer is not commit.author:
        yield from _signature_marks(commit.committer, "committer")
    yield from _message_marks(commit.message)
    if pull_request is not None:
        yield from _pull_request_marks(commit, pull_request)


def _signature_marks(sig: Signature, field: str) -> Iterator[AiMark]:
    tool = tool_of(sig)
    if tool is not None:
        yield AiMark(2, tool[0], f"{field}: {sig.name}"[:_LONGEST_SOURCE])


def _message_marks(message: str, where: str = "") -> Iterator[AiMark]:
    """The marks in the attribution lines of a message."""
    for line in attribution_lines(message):
        tool = line_tool(line)
        if tool is not None:
            yield AiMark(5 if tool[1] else 3, tool[0], line.strip()[:_LONGEST_SOURCE] + where)


def _pull_request_marks(commit: Commit, pull_request: PullRequest) -> Iterator[AiMark]:
    if pull_request.author is not None:
        yield from _signature_marks(pull_request.author, "pull request author")
    branch = branch_tool(pull_request.head_ref)
    if branch is not None:
        yield AiMark(4, branch, f"branch {pull_request.head_ref}"[:_LONGEST_SOURCE])
    for line in attribution_lines("\n\n" + pull_request.body):
        tool = line_tool(line)
        if tool is not None:
            yield AiMark(4, tool[0], f"pull request: {line.strip()}"[:_LONGEST_SOURCE])
    session = find_session(pull_request.body)
    if session is not None:
        yield AiMark(4, session[0], f"pull request: {session[1]}"[:_LONGEST_SOURCE])
    if _is_squashed(commit, pull_request):
        for part in pull_request.commits:
            yield from _message_marks(part.message, f" (in {part.id[:12]}, squashed: an upper bound)")


def _is_squashed(commit: Commit, pull_request: PullRequest) -> bool:
    """Whether the commit is the squash of a pull request with other commits."""
    if pull_request.merge_commit != commit.id or len(commit.parents) > 1:
        return False
    return all(part.id != commit.id for part in pull_request.commits)


def attribution_lines(message: str) -> tuple[str, ...]:
    """The lines of a message that may attribute work: its closing block, and the end of each paragraph before it.

    A squash message contains the trailers of several commits, each at the end of a paragraph. Lines followed by prose
    count as prose, and so do fenced, indented and quoted lines, and the subject.
    """
    read = read_message(message)
    if len(read.lines) < 2:
        return ()
    squashed = read.lines[0].startswith(_SQUASHED)
    # `git merge --squash` indents the messages that it joins
    lines = [line.removeprefix("    ") for line in read.lines[1:]] if squashed else list(read.lines[1:])
    candidates = lines if squashed else attribution_candidates(read)
    if not any(_MAY.match(line) and line_tool(line) for line in candidates):
        return ()
    found: list[str] = []
    for paragraph in _paragraphs(lines):
        found += _closing_lines(paragraph)
    known = set(found)
    closing = [f"{key}: {value}" for key, value in trailers(message)]
    return tuple(found + [line for line in closing if line not in known])


def _paragraphs(lines: list[str]) -> list[list[str]]:
    """Paragraphs of plain lines; an item of a squash list always starts a new one."""
    found: list[list[str]] = [[]]
    fenced = False
    for line in lines:
        if line.lstrip().startswith(_FENCES):
            fenced = not fenced
            found.append([])
        elif not line.strip() or line.startswith(("* ", "---", "___")):
            found.append([line] if line.startswith("* ") else [])
        elif not fenced:
            found[-1].append(line)
    return [paragraph for paragraph in found if paragraph]


def _closing_lines(paragraph: list[str]) -> list[str]:
    """The lines at the end of a paragraph that look like trailers, footers or addresses, in order."""
    paragraph = _unwrapped(paragraph)
    for at in range(len(paragraph) - 1, -1, -1):
        if not _is_attribution_line(paragraph[at]):
            return paragraph[at + 1 :]
    return paragraph


def _unwrapped(paragraph: list[str]) -> list[str]:
    """The paragraph with a footer in emphasis that runs over two or three lines cut to its first."""
    sign = paragraph[-1][-1:]
    if sign in ("_", "*"):
        for at in range(len(paragraph) - 2, max(len(paragraph) - 4, -1), -1):
            if paragraph[at].startswith(sign) and not paragraph[at].endswith(sign):
                return paragraph[: at + 1]
    return paragraph


def _is_attribution_line(line: str) -> bool:
    if line[:1] in " \t>*":
        return line.startswith("**")
    key, colon, _ = line.partition(":")
    if colon and (" " not in key or key.count(" ") < 5) and len(key) <= 40:
        return True
    return line.startswith("(cherry picked") or "://" in line or line_tool(line) is not None


def usage(commits: Iterable[Fact]) -> AiUsage:
    """Commits by how their use of AI is known; declared + detected + unknown is the number of commits.

    *Declared*: somebody states it, by line notes, a trailer or footer, or the branch or text of the pull request
    (levels 1, 3, 4). *Detected*: nobody states it, but an agent's own account is author, committer or author of the
    pull request, or made the applied suggestion (levels 2, 5). *Unknown*: no trace, which is not "human".
    """
    counts: Counter[str] = Counter()
    tools: Counter[str] = Counter()
    for fact in commits:
        levels = {mark.level for mark in fact.ai}
        counts["declared" if levels & DECLARED_LEVELS else "detected" if levels else "unknown"] += 1
        tools.update(sorted({mark.tool for mark in fact.ai}))
    ordered = sorted(tools.items(), key=lambda row: (-row[1], row[0]))
    return AiUsage(counts["declared"], counts["detected"], counts["unknown"], dict(ordered))


def traced_usage(commits: Sequence[tuple[ChangeId, Fact]]) -> AiUsage:
    """`usage` with the commits behind each tool, newest first."""
    found = usage(fact for _, fact in commits)
    traces: dict[str, list[AiTrace]] = {tool: [] for tool in found.tools}
    for change, fact in sorted(commits, key=lambda one: (-one[1].landed_at, one[1].commit)):
        for tool in {mark.tool for mark in fact.ai}:
            traces[tool].append(AiTrace(change, fact.commit))
    return replace(found, evidence={tool: tuple(ones) for tool, ones in traces.items()})
