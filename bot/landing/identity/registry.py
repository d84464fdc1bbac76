"""Which machines are listed, and under which ids, addresses, names and traces?

`machines.toml` is the one table that people, credit, AI usage and the docs ask; machines.json is the same, and faster
to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

import msgspec
from msgspec import Struct

from bot.configuration.package_files import read_bytes
from bot.landing.identity.machine_names import is_machine_local

_AMBIGUOUS = frozenset(("codex", "copilot", "lovable", "qoder", "plandex", "nori"))
"""names of tools that a person may bear: with an address, it must say the same"""
_MARKUP = str.maketrans("", "", "[]`*_\"'🤖✨⚡🧠🪄💘🎯")
_VERSIONED = (
    "code",
    "cli",
    "agent",
    "ai",
    "app",
    "flash",
    "pro",
    "max",
    "mini",
    "composer",
    "opus",
    "sonnet",
    "haiku",
    "fable",
)

MachineKind = Literal["agent", "reviewer", "dependencies", "lander", "exporter", "ci", "robot", "service"]


class Machine(Struct, frozen=True):
    """One machine or family of machines; every text in lower case. The table explains the fields."""

    name: str
    kind: MachineKind
    source: str
    since: str | None = None
    """YYYY-MM"""
    ids: tuple[int, ...] = ()
    logins: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    valued: tuple[tuple[str, str], ...] = ()
    sites: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()

    @property
    def is_ai(self) -> bool:
        """Whether it writes code with a model."""
        return self.kind in ("agent", "reviewer")

    @property
    def suggests(self) -> bool:
        """Whether it reviews: as co-author it means a suggestion that somebody applied."""
        return self.kind == "reviewer"


@cache
def machines() -> tuple[Machine, ...]:
    """Every machine, in the order of the table: if two entries match, the first counts."""
    return msgspec.json.decode(read_bytes("bot.landing.identity", "machines.json"), type=tuple[Machine, ...])


@cache
def machines_by(field: str) -> Mapping[str | int, Machine]:
    """The machines by each value of one of their lists."""
    found: dict[str | int, Machine] = {}
    for machine in machines():
        for value in getattr(machine, field):
            found.setdefault(value, machine)
    return found


@cache
def prefixes(field: str) -> tuple[str, ...]:
    """The values of a list whose entries are beginnings or ends of texts."""
    return tuple(value for machine in machines() for value in getattr(machine, field))


@cache
def valued_keys() -> Mapping[str, tuple[tuple[str, Machine], ...]]:
    """By the key of a trailer: what its value must contain, and the machine that this means."""
    found: dict[str, tuple[tuple[str, Machine], ...]] = {}
    for machine in machines():
        for key, part in machine.valued:
            found[key] = (*found.get(key, ()), (part, machine))
    return found


@cache
def logins_of(kind: MachineKind) -> frozenset[str]:
    """The logins of all machines of one kind."""
    return frozenset(_values(kind, "logins"))


def addresses_of(kind: MachineKind) -> frozenset[str]:
    """The addresses of all machines of one kind."""
    return frozenset(_values(kind, "addresses"))


def _values(kind: MachineKind, field: str) -> Iterator[str]:
    for machine in machines():
        if machine.kind == kind:
            yield from getattr(machine, field)


def machine_named(name: str, email: str) -> Machine | None:
    """The machine of a name that no person has; a name that a person may bear must stand in the address, too."""
    lower = name.translate(_MARKUP).strip().lower().removesuffix(" powered by ai")
    found = safe_name(lower)
    local = email.rpartition("@")[0]
    if found is not None and lower in _AMBIGUOUS and local and lower not in local:
        return None
    if found is None and local and is_machine_local(local):
        found = machines_by("first").get(lower)
    return found


def safe_name(lower: str) -> Machine | None:
    """`claude opus 7 (2m context)`, `codex (gpt-9)`: a safe name, with or without a suffix."""
    names = machines_by("names")
    if lower in names:
        return names[lower]
    if lower.startswith("aider ("):
        return names["aider"]
    words = (
        lower.replace("-gpt", " gpt").replace("(", " ").replace(":", " ").replace("/", " ").replace(",", " ").split()
    )
    for count in (4, 3, 2, 1):
        begun = " ".join(words[:count])
        found = names.get(begun) if len(words) > count else None
        if found is not None and found.is_ai and (count > 1 or _continues(lower[len(begun) :], words[1])):
            return found
    return None


def _continues(behind: str, word: str) -> bool:
    """Whether what stands behind a name of one word is a version, a model or a bracket, and not a surname."""
    if word in _VERSIONED or word.startswith("gpt") or word.lstrip("v")[:1].isdecimal():
        return True
    return behind.lstrip()[:1] in ("(", ":", "/", ",") or behind[:1] == "-"
