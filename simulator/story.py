"""What happened at the invented organisation? The lines of story.toml, spread over the months."""

from __future__ import annotations

import tomllib
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any

from msgspec import Struct

from simulator.coding import number_of

LENGTH = timedelta(days=182)


class Line(Struct, frozen=True):
    """One landing of the story."""

    repository: str
    at: datetime
    who: str
    edit: str
    unit: str
    title: str
    body: str
    flags: tuple[str, ...]

    def flag(self, name: str) -> str | None:
        """The value of a `name:value` flag, the name of a bare flag, or None if it is missing."""
        for flag in self.flags:
            word, _, value = flag.partition(":")
            if word == name:
                return value or word
        return None


def read_story() -> dict[str, Any]:
    return tomllib.loads((files("simulator") / "story.toml").read_text("utf-8"))


def lines_of(story: dict[str, Any], now: datetime) -> list[Line]:
    """Every landing, oldest first, spread over the half year before `now`, slightly unevenly as people work."""
    lines: list[Line] = []
    for repository in story["repository"]:
        texts = repository["landings"]
        for position, text in enumerate(texts):
            at = _moment(now, (position + 0.6) / len(texts), text)
            who, edit, unit, title, body, flags = (part.strip() for part in text.split("|"))
            lines.append(Line(repository["name"], at, who, edit, unit, title, body, tuple(flags.split())))
    return sorted(lines, key=lambda line: (line.at, line.repository))


def _moment(now: datetime, share: float, text: str) -> datetime:
    """A working hour near the given share of the half year."""
    day = now - LENGTH + share * (LENGTH - timedelta(days=2))
    seed = number_of(text)
    moment = day.replace(hour=7 + seed % 11, minute=seed % 60, second=seed % 59, microsecond=0)
    weekend = moment.weekday() - 4
    return moment - timedelta(days=weekend) if weekend > 0 and seed % 5 else moment
