"""Machines are recognised by the registry and its rule, and people who are called like one stay people."""

import csv
import itertools
from pathlib import Path

import pytest

from bot.landing.identity.credit import People, co_authors
from bot.landing.identity.machines import is_machine
from bot.landing.identity.registry import machines, machines_by
from bot.metrics.ai_lines import line_tool, read_signature, tool_of
from bot.model.commit import Signature
from bot.model.ids import UserId

ADA = Signature("Ada Example", "ada@example.org")
with (Path(__file__).parent / "machine_lines.csv").open(encoding="utf-8", newline="") as file:
    LINES = list(csv.DictReader(file))


@pytest.mark.parametrize("row", LINES, ids=lambda row: row["line"])
def test_a_line_seen_in_public_names_its_machine(row: dict[str, str]) -> None:
    assert row["source"]
    sig = read_signature(row["line"] if row["where"] == "author" else row["line"].partition(":")[2]) or ADA
    if row["machine"] == "machine":
        assert is_machine(sig)
        assert tool_of(sig) is None
        return
    tool = tool_of(sig) if row["where"] == "author" else line_tool(row["line"])
    assert tool is not None
    assert tool[0] == row["machine"]
    assert "<" not in row["line"] or is_machine(sig)
    assert co_authors(f"Add a cache\n\n{row['line']}\n", ADA) == ()


def test_at_least_sixty_tools_have_a_line() -> None:
    assert len({row["machine"] for row in LINES}) >= 60
    assert sum(machine.is_ai for machine in machines()) >= 70


FIRST = (
    *("Claude", "Claudia", "Devin", "Jules", "Cody", "Zed", "Roo", "Oz", "Ona", "Kimi", "Gemma", "Juno", "Kilo", "Amp"),
    *("Grok", "Goose", "Pi", "Letta", "Augustus", "Ai", "Sonnet", "Opus", "Haiku", "Codex", "Bing", "Bard", "Max"),
)
SURNAMES = (
    *("Talbot", "Botha", "Abbott", "Abbot", "Bot", "Robot", "Agentson", "Lebot", "Thibot", "Cline", "Warp", "Droid"),
    *("woodenrobot", "dannomayernotabot", "AsyncBanana", "Crawford, Jordan", "Mayor Dalia", "r0man", "nut/bolt"),
    *("Kimura", "Lovable", "Moreau", "Ci", "Action-Smith", "Service", "Automatova", "Mistral", "Coder", "Flash-Gordon"),
)
AMBIGUOUS = ("pi@pi.dev", "codex@codex.dev", "codex@codex.fr", "ai@ai.dev", "ai@ai.fr")
"""not even a reader could tell"""
DOMAINS = ("example.org", "anthropic.com", "cline.bot", "cursor.com", "openai.com", "x.ai", "gmail.com", "github.com")


def _people() -> list[Signature]:
    names = list(itertools.product(FIRST, SURNAMES))
    signatures = [
        Signature(f"{first} {last}", f"{first}.{last}@{DOMAINS[at % len(DOMAINS)]}".lower())
        for at, (first, last) in enumerate(names)
    ]
    signatures += [
        Signature(first, f"{first.lower()}@{first.lower()}{end}") for first in FIRST for end in (".dev", ".fr")
    ]
    return [sig for sig in signatures if sig.email not in AMBIGUOUS]


def test_no_person_among_six_hundred_with_a_tool_s_name_is_a_machine() -> None:
    people = _people()
    assert len(people) > 500
    wrong = [sig for sig in people if is_machine(sig) or tool_of(sig) is not None]
    wrong += [sig for sig in people if line_tool(f"Co-authored-by: {sig.name} <{sig.email}>") is not None]
    assert wrong == []


@pytest.mark.parametrize(
    "line",
    [
        "Reviewed-by: Claude <noreply@anthropic.com>",
        "Executed-By: Ada Example",
        "Replit-Commit-Author: Deployment",
        "Agent-Signature: none",
        "Generated-by: autoconf 2.71",
        "Co-authored-by: dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
        "Co-authored-by: Weblate <noreply@weblate.org>",
        "Signed-off-by: CI <ci@example.org>",
        "Made with love and Continue buttons",
        "Created by Kilo Example <kilo@example.org>",
    ],
)
def test_other_machines_people_and_prose_are_no_trace_of_a_model(line: str) -> None:
    assert line_tool(line) is None


def test_an_account_that_github_knows_is_no_machine_whatever_a_commit_calls_it() -> None:
    for name in ("x[bot]", "Claude Code", "CI", "AI Assistant"):
        assert not is_machine(Signature(name, "noreply@anthropic.example", UserId(12), "ada"))
        assert not is_machine(Signature(name, "12+ada@users.noreply.github.com"))


def test_a_machine_s_name_over_a_person_s_address_withholds_that_commit_only() -> None:
    people = People.of([ADA, ADA, Signature("Example Release Bot", ADA.email), Signature("Claude Code", ADA.email)])
    assert [(person.name, person.bot) for person in people.all()] == [
        ("Ada Example", False),
        ("Claude Code", True),
        ("Example Release Bot", True),
    ]


def test_no_id_login_address_or_name_belongs_to_two_machines() -> None:
    for field in ("ids", "logins", "addresses", "names", "keys"):
        listed = [value for machine in machines() for value in getattr(machine, field)]
        assert len(listed) == len(set(listed)), field
    for machine in machines():
        assert machine.source, machine.name
        assert all(word == word.lower() for word in (*machine.logins, *machine.addresses, *machine.names)), machine.name
    assert set(machines_by("ids")) >= {209825114, 49699333}


@pytest.mark.parametrize("login", ["jekyllbot", "weblatebot", "acme-mergebot", "k8s-releasebot", "buildbot"])
def test_a_login_of_a_robot_s_work_and_bot_is_a_machine(login: str) -> None:
    assert is_machine(Signature("", "", UserId(7), login))


@pytest.mark.parametrize("login", ["talbot", "abbot", "cabot", "herbot", "thibot", "woodenrobot", "lebot", "gitbotto"])
def test_a_surname_in_bot_is_a_person(login: str) -> None:
    assert not is_machine(Signature("", f"{login}@example.org", UserId(7), login))
