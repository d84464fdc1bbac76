"""Which lines of a commit do its line notes (git-ai, under refs/notes/ai) attribute to a tool?

A note is a list of files, each followed by lines of `key ranges`, then `---` and JSON that maps each key to a tool.
Format: https://github.com/git-ai-project/git-ai (authorship/3.0.0).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from bot.landing.identity.registry import machines_by

LONGEST_NOTE = 2_000_000
"""characters read of one note"""
_NOT_NAMED = "AI (not named)"


def ai_lines(note: str) -> dict[str, int]:
    """Lines by tool, most first; a line claimed by several sessions counts once, for the range that begins first.

    Text in another format gives an empty result, never an error.
    """
    head, found, tail = note[:LONGEST_NOTE].partition("\n---")
    if not found:
        return {}
    tools = _tools(tail)
    counts: dict[str, int] = {}
    for ranges in _by_file(head, tools):
        covered = 0
        for first, last, tool in sorted(ranges):
            counts[tool] = counts.get(tool, 0) + max(0, last - max(first - 1, covered))
            covered = max(covered, last)
    return dict(sorted(((tool, n) for tool, n in counts.items() if n), key=lambda row: (-row[1], row[0])))


def _by_file(head: str, tools: Mapping[str, str]) -> list[list[tuple[int, int, str]]]:
    """(first line, last line, tool) of each file's ranges that belong to a machine."""
    files: list[list[tuple[int, int, str]]] = [[]]
    for line in head.split("\n"):
        if not line.startswith((" ", "\t")):
            files.append([])
            continue
        key, _, ranges = line.strip().partition(" ")
        if key.startswith("s_") or key == "ai_agent" or (len(key) == 16 and not key.strip("0123456789abcdef")):
            tool = tools.get(key.partition("::")[0], _NOT_NAMED)
            files[-1] += [(first, last, tool) for first, last in _ranges(ranges)]
    return files


def _ranges(text: str) -> list[tuple[int, int]]:
    found = []
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        if first.isdecimal() and len(first) < 10 and (not dash or (last.isdecimal() and len(last) < 10)):
            found.append((int(first), int(last) if dash else int(first)))
    return found


def _tools(text: str) -> dict[str, str]:
    """The tool of each key, from the JSON after the divider."""
    known = machines_by("notes")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, str] = {}
    for name in ("prompts", "sessions"):
        group = record.get(name) if isinstance(record, Mapping) else None
        for key, entry in group.items() if isinstance(group, Mapping) else ():
            agent = entry.get("agent_id") if isinstance(entry, Mapping) else None
            tool = agent.get("tool") if isinstance(agent, Mapping) else None
            if isinstance(tool, str) and tool:
                machine = known.get(tool.lower())
                found[key] = machine.name if machine else tool[:60]
    return found
