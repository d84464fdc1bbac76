"""The work of one month, for tests of metrics."""

from __future__ import annotations

from bot.metrics.work import MonthWork, Work
from bot.model.change import Change
from bot.model.ids import Month


def work_of(*changes: Change, month: str = "2026-01") -> Work:
    """The changes as one month's work; every commit is the person's own."""
    pairs = [(change, commit) for change in changes for commit in change.counted]
    return Work((MonthWork(Month(month), pairs, [], list(changes)),))
