from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.landing.identity.registry import machines
from bot.landing.message.lines import read_message
from bot.metrics.ai_lines import ASSISTS, CREDITS, FLAGS, attribution_candidates, line_tool
from bot.metrics.ai_notes import ai_lines
from bot.metrics.ai_usage import marks, traced_usage, usage
from bot.model.commit import Commit, PullRequest, Signature
from bot.model.fact import AiMark, Fact
from bot.model.ids import ChangeId, CommitId, UserId

ADA = Signature("Ada Example", "ada@example.org")
TOOLS = [machine for machine in machines() if machine.is_ai]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLAUDE = "Co-Authored-By: Claude Opus 9 (1M context) <noreply@anthropic.com>"


def commit(message: str = "Add a cache", author: Signature = ADA, committer: Signature = ADA) -> Commit:
    return Commit(CommitId("a" * 40), (), author, committer, NOW, NOW, message)


def pull_request(body: str = "", *, branch: str = "cache", author: Signature | None = ADA) -> PullRequest:
    return PullRequest(7, "Add a cache", body, author, "main", branch, CommitId("b" * 40), CommitId("a" * 40))


def found(line: str) -> list[tuple[int, str]]:
    return [(mark.level, mark.tool) for mark in marks(commit(f"Add a cache\n\nIt is faster.\n\n{line}\n"), None)]


@pytest.mark.parametrize(
    ("line", "level", "tool"),
    [
        (CLAUDE, 3, "Claude Code"),
        ("🤖 Generated with [Claude Code](https://claude.com/claude-code)", 3, "Claude Code"),
        ("Generated with Claude Sonnet 4.6.", 3, "Claude Code"),
        ("Authored with assistance from Claude Code.", 3, "Claude Code"),
        ("This diff was authored with the help of Claude.", 3, "Claude Code"),
        ("Assisted-by: Opus 4.6 via Claude Code", 3, "Claude Code"),
        ("Claude-Session: https://claude.ai/code/session_0123456789", 3, "Claude Code"),
        ("Co-authored-by: Copilot <223556219+Copilot@users.noreply.github.com>", 3, "Copilot"),
        ("Co-authored-by: Copilot <175728472+Copilot@users.noreply.github.com>", 5, "Copilot review"),
        ("Agent-Logs-Url: https://github.com/example/project/sessions/0123-4567", 3, "Copilot coding agent"),
        ("Co-authored-by: GPT 5.6 <codex@openai.com>", 3, "Codex"),
        ("Co-authored-by: Codex <noreply@openai.com)", 3, "Codex"),
        ("Co-authored-by: Cursor <cursoragent@cursor.com>", 3, "Cursor"),
        ("Made with [Cursor](https://cursor.com)", 3, "Cursor"),
        ("Amp-Thread-ID: https://ampcode.com/threads/T-01234567", 3, "Amp"),
        ("Co-authored-by: aider (some/model-1) <aider@aider.chat>", 3, "aider"),
        ("Assisted-by: Claude:claude-sonnet-4-6", 3, "Claude Code"),
        ("Assisted-by: GPT 5.6", 3, "Codex"),
        ("Generated-by: Claude Code following [the guide", 3, "Claude Code"),
        ("Co-authored-by: coderabbitai[bot] <136622811+coderabbitai[bot]@users.noreply.github.com>", 5, "CodeRabbit"),
    ],
)
def test_an_attribution_line_names_its_tool_and_level(line: str, level: int, tool: str) -> None:
    assert found(line) == [(level, tool)]


@pytest.mark.parametrize(
    "line",
    [
        "Co-authored-by: Claude Example <claude.example@example.org>",
        "Co-authored-by: Claude <claude@example.fr>",
        "Co-authored-by: Devin Example <devin@example.com>",
        "Co-authored-by: Codex Example <bob@example.org>",
        "Co-authored-by: A Person <person@anthropic.com>",
        "Co-authored-by: Ali Example <ali@example.ai>",
        "Assisted-by: Claude Example",
        "Assisted-by: Agent Example",
        "Assisted-by: Opus Example",
        "Developed with the help of Claude Example",
        "Written with assistance from the others",
        "Assisted-by: Some Body on GitHub",
        "Generated-by: protoc 3.21",
        "Generated-by: [Tool Name] following [the guide",
        "Reviewed-by: Claude <noreply@anthropic.com>",
        "AI-assisted: no",
        "Written by Claude Example",
        "Created with Gemini protocol support",
        "Made with love",
        "We generated this with Claude Code and threw it away.",
        "A hook strips Co-authored-by: Claude <noreply@anthropic.com> from each message.",
        f"> {CLAUDE}",
        f"    {CLAUDE}",
        f"```\n{CLAUDE}\n```",
        "See https://claude.ai, https://openai.com/codex and https://cursor.com/docs.",
        "[![Open](https://static.devin.ai/badge.svg)](https://app.devin.ai/review/example/project/pull/7)",
        "Co-authored-by: dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>",
    ],
)
def test_people_prose_badges_and_other_programs_are_not_evidence(line: str) -> None:
    assert found(line) == []


@pytest.mark.parametrize(
    ("sig", "tool"),
    [
        (Signature("Copilot", "198982749+Copilot@users.noreply.github.com"), "Copilot coding agent"),
        (Signature("renamed", "", UserId(158243242)), "Devin"),
        (Signature("Claude", "noreply@anthropic.com"), "Claude Code"),
        (Signature("Ada Example (aider)", "ada@example.org"), "aider"),
    ],
)
def test_a_commit_that_an_agent_made_is_level_two(sig: Signature, tool: str) -> None:
    assert [(mark.level, mark.tool) for mark in marks(commit(author=sig), None)] == [(2, tool)]
    assert marks(commit(committer=sig), None)[0].tool == tool


@pytest.mark.parametrize(
    "sig",
    [
        Signature("Claude", "claude@example.fr"),
        Signature("Devin Example", "devin@example.com"),
        Signature("AI-Example", "12345+AI-Example@users.noreply.github.com"),
        Signature("claude", "12345+claude-example@users.noreply.github.com"),
        Signature("github-actions[bot]", "41898282+github-actions[bot]@users.noreply.github.com"),
    ],
)
def test_an_author_who_is_called_like_a_tool_is_a_person(sig: Signature) -> None:
    assert marks(commit(author=sig), None) == ()


def test_lines_in_the_middle_of_a_squash_message_count() -> None:
    message = (
        f"Add a cache (#7)\n\n* feat: cache\n\n{CLAUDE}\n\n* fix: key\n\nwords\n\nSigned-off-by: Ada <ada@example.org>"
    )
    assert [mark.tool for mark in marks(commit(message), None)] == ["Claude Code"]
    indented = f"Squashed commit of the following:\n\ncommit 0123\n\n    Add a cache\n\n    {CLAUDE}\n"
    assert [mark.tool for mark in marks(commit(indented), None)] == ["Claude Code"]


def test_a_subject_is_never_an_attribution_line() -> None:
    assert marks(commit(CLAUDE), None) == ()


def test_the_pull_request_s_author_lines_links_and_branch_count() -> None:
    agent = Signature("devin-ai-integration[bot]", "", UserId(158243242), "devin-ai-integration[bot]", bot=True)
    assert [mark.level for mark in marks(commit(), pull_request(author=agent))] == [2]
    for known in (
        pull_request("Why.\n\n🤖 Generated with [Claude Code](https://claude.ai/code)"),
        pull_request("[Task](https://chatgpt.com/codex/tasks/task_e_0123)"),
        pull_request(branch="copilot/add-a-cache"),
    ):
        assert [mark.level for mark in marks(commit(), known)] == [4]
    assert marks(commit(), pull_request(branch="claude/add-a-cache", author=None)) == ()
    assert marks(commit(), pull_request(branch="devin/cache")) == ()


def test_line_notes_are_the_strongest_and_a_known_human_is_no_tool() -> None:
    note = (
        "src/a.py\n  s_0123456789abcd::t_0123456789abcd 1-10,12\n  h_0123456789abcd 11\n---\n"
        '{"schema_version": "authorship/3.0.0", "sessions": {"s_0123456789abcd": {"agent_id": {"tool": "claude"}}}}'
    )
    assert ai_lines(note) == {"Claude Code": 11}
    first = marks(commit(f"Add a cache\n\n{CLAUDE}"), None, note)[0]
    assert (first.level, first.tool) == (1, "Claude Code")
    assert ai_lines("src/a.py\n  h_0123456789abcd 1-10\n---\n{}") == {}


def fact(ai: Sequence[AiMark]) -> Fact:
    return Fact("example/project", CommitId("a" * 40), 0, 0, ADA, ADA, "x", "direct", CommitId("a" * 40), ai=tuple(ai))


@given(
    st.lists(
        st.lists(st.builds(AiMark, st.sampled_from([1, 2, 3, 4, 5]), st.sampled_from("ab"), st.just("x")), max_size=3)
    )
)
def test_declared_detected_and_unknown_sum_to_the_commits(rows: list[list[AiMark]]) -> None:
    counted = usage(fact(row) for row in rows)
    assert counted.declared + counted.detected + counted.unknown == len(rows)
    assert counted.unknown == sum(not row for row in rows)
    assert all(n <= len(rows) for n in counted.tools.values())


def test_stated_ai_use_is_declared_and_account_based_use_is_detected() -> None:
    two, three, five = AiMark(2, "Devin", "a"), AiMark(3, "Cursor", "b"), AiMark(5, "CodeRabbit", "c")
    counted = usage([fact([two]), fact([three, two]), fact([five]), fact([])])
    assert (counted.declared, counted.detected, counted.unknown) == (1, 2, 1)
    assert counted.tools == {"Devin": 2, "CodeRabbit": 1, "Cursor": 1}


def test_each_tool_has_evidence_and_no_id_or_address_is_two_tools() -> None:
    for field in ("ids", "addresses", "logins", "keys", "names"):
        listed = [key for tool in TOOLS for key in getattr(tool, field)]
        assert len(listed) == len(set(listed)), field
    for tool in TOOLS:
        assert tool.ids or tool.logins or tool.addresses or tool.names or tool.keys or tool.valued, tool.name
        assert tool.source, tool.name


@pytest.mark.parametrize(
    "hostile", ["a-by:" * 12000, "Generated with [" * 4000, "🤖" * 60000, "x\n" * 30000, "```\n" * 16000]
)
def test_hostile_messages_are_read_to_the_end(hostile: str) -> None:
    assert marks(commit("x\n\n" + hostile), pull_request(hostile)) == ()


def test_a_line_that_names_a_tool_is_a_candidate() -> None:
    values = [f"{name} <{name}@example.org>" for tool in TOOLS for name in sorted(tool.names)[:2]]
    lines = [f"{key}: {value}" for key in sorted(CREDITS | ASSISTS) for value in values]
    lines += [f"{key}: yes" for key in sorted(FLAGS)]
    lines += [f"{key.title()}: something" for tool in TOOLS for key in sorted(tool.keys)]
    lines += [f"🤖 Generated with [{tool.name}](https://{site})" for tool in TOOLS for site in tool.sites]
    lines += [f"This commit was written by {name}" for tool in TOOLS for name in sorted(tool.names)]
    lines += [f"Link to session: https://{start}abc" for tool in TOOLS for start in tool.sessions]
    telling = [line for line in lines if line_tool(line)]
    assert len(telling) > 300
    assert [line for line in telling if line not in attribution_candidates(read_message(f"Add it\n\n{line}"))] == []


def test_each_tool_opens_into_its_commits_newest_first() -> None:
    old, new = fact([AiMark(3, "Cursor", "a")]), fact([AiMark(3, "Cursor", "a"), AiMark(2, "Devin", "b")])
    new = replace(new, commit=CommitId("b" * 40), landed_at=9)
    found = traced_usage([(ChangeId("x#1"), old), (ChangeId("x#2"), new), (ChangeId("x#3"), fact([]))])
    assert {tool: [(one.change, one.commit[0]) for one in traces] for tool, traces in found.evidence.items()} == {
        "Cursor": [("x#2", "b"), ("x#1", "a")],
        "Devin": [("x#2", "b")],
    }
    assert {tool: len(traces) for tool, traces in found.evidence.items()} == found.tools
    assert sum(found.shares()) == pytest.approx(1)
