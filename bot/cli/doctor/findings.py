"""How is the result of a check reported?"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from bot.configuration.logs import scrub_secrets

State = Literal["ok", "note", "WRONG", "?"]
"""note: nothing is broken; ?: the check could not run, which is not the same as ok"""


class Finding(Struct, frozen=True):
    """One line of the report."""

    state: State
    subject: str
    text: str

    def __str__(self) -> str:
        return scrub_secrets(f"{self.state:<6}{self.subject}: {self.text}")


def ok(subject: str, text: str) -> Finding:
    return Finding("ok", subject, text)


def note(subject: str, text: str) -> Finding:
    """Nothing is broken, but the operator should know."""
    return Finding("note", subject, text)


def wrong(subject: str, text: str) -> Finding:
    """Something is broken; `text` says what to do."""
    return Finding("WRONG", subject, text)


def unknown(subject: str, why: str) -> Finding:
    """The check could not run."""
    return Finding("?", subject, f"NOT CHECKED: {why}")
