"""Which ids, addresses, names, sites and branches identify each AI tool?

To add a tool, add one entry to TOOLS. Ids, addresses and forms come from public histories or from the tools' own
documentation (then `first_seen` is None). `first_seen` is the month of the oldest commit that
`benchmarks/metrics/ai_usage.py --first-seen` finds in twenty public histories: later than the tool's release.
"""

from __future__ import annotations

from msgspec import Struct

_NOTHING: frozenset[str] = frozenset()


class Tool(Struct, frozen=True):
    """One tool; every text in lower case. A tool's name is evidence only if no person has it."""

    name: str
    first_seen: str | None = None
    """YYYY-MM"""
    ids: frozenset[int] = frozenset()
    """user ids on GitHub"""
    logins: frozenset[str] = _NOTHING
    """logins proved by GitHub or by a noreply address"""
    addresses: frozenset[str] = _NOTHING
    names: frozenset[str] = _NOTHING
    """names that no person has, as the whole name or its beginning"""
    first: tuple[str, ...] = ()
    """names that people have, too: used where a line can only mean a tool (`Assisted-by: Claude`, a footer)"""
    keys: frozenset[str] = _NOTHING
    """trailers that only this tool writes"""
    sites: tuple[str, ...] = ()
    """where the link of a footer `Generated with [...](...)` leads, without `https://`"""
    sessions: tuple[str, ...] = ()
    """prefixes of the addresses of its sessions; its home page, badges and reviews have other prefixes"""
    branches: tuple[str, ...] = ()
    """prefixes of its branches that no person would use"""
    suggests: bool = False
    """it reviews: as co-author it means a suggestion that somebody applied"""


def words(text: str) -> frozenset[str]:
    """The words of a text, for short lists of names in this file."""
    return frozenset(text.split())


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split(", "))


TOOLS: tuple[Tool, ...] = (
    Tool(
        "Claude Code",
        first_seen="2025-06",
        ids=frozenset({209825114, 242468646}),
        logins=words("claude[bot] anthropic-code-agent[bot]"),
        addresses=words("noreply@anthropic.com no-reply@anthropic.com claude@anthropic.com"),
        names=_names("claude code, claude opus, claude sonnet, claude haiku, claude fable, claude mythos, claude ai"),
        first=("claude",),
        keys=words("claude-session claude-generated-by"),
        sites=("claude.ai", "claude.com", "anthropic.com/claude-code", "docs.anthropic.com", "code.claude.com"),
        sessions=("claude.ai/code/session_",),
    ),
    Tool(
        "Copilot coding agent",
        first_seen="2025-07",
        ids=frozenset({198982749}),
        logins=words("copilot-swe-agent[bot] copilot-swe-agent"),
        names=_names("copilot-swe-agent[bot], copilot-swe-agent, copilot coding agent, github copilot coding agent"),
        keys=words("agent-logs-url"),
        branches=("copilot/",),
    ),
    Tool(
        "Copilot Autofix",
        first_seen="2025-05",
        ids=frozenset({62310815, 223894421}),
        logins=words("github-advanced-security[bot] github-code-quality[bot]"),
        names=_names("copilot autofix"),
        suggests=True,
    ),
    Tool("Copilot review", first_seen="2024-12", ids=frozenset({175728472}), suggests=True),
    Tool(
        "Copilot",
        first_seen="2026-03",
        ids=frozenset({223556219}),
        logins=words("copilot"),
        addresses=words("copilot@github.com"),
        names=_names("copilot, github copilot"),
        keys=words("copilot-session"),
        sites=("github.com/features/copilot", "github.com/copilot"),
    ),
    Tool(
        "Cursor",
        first_seen="2025-07",
        logins=words("cursoragent cursor[bot]"),
        addresses=words("cursoragent@cursor.com cursoragentcursor.com"),
        names=_names("cursor agent, cursor ai, cursoragent, cursor[bot]"),
        first=("cursor",),
        sites=("cursor.com", "cursor.sh"),
        sessions=("cursor.com/background-agent?bcId=", "cursor.com/agents?id=bc-", "cursor.com/agents/bc-"),
        branches=("cursor/",),
    ),
    Tool(
        "Devin",
        first_seen="2024-12",
        ids=frozenset({158243242}),
        logins=words("devin-ai-integration[bot] devin-ai-integration"),
        names=_names("devin ai, devin-ai-integration[bot]"),
        sites=("devin.ai", "app.devin.ai"),
        sessions=("app.devin.ai/sessions/",),
    ),
    Tool(
        "Codex",
        first_seen="2025-10",
        ids=frozenset({199175422}),
        logins=words("chatgpt-codex-connector[bot]"),
        addresses=words("noreply@openai.com codex@openai.com"),
        names=_names("codex, openai codex, codex-cli, chatgpt, chatgpt-codex-connector[bot]"),
        sites=("openai.com/codex", "chatgpt.com/codex", "github.com/openai/codex", "chatgpt.com"),
        sessions=("chatgpt.com/codex/tasks/", "chatgpt.com/codex/cloud/tasks/", "chatgpt.com/s/cd_"),
        branches=("codex/",),
    ),
    Tool(
        "aider",
        first_seen="2025-02",
        addresses=words("aider@aider.chat noreply@aider.dev noreply@aider.chat"),
        names=_names("aider"),
        sites=("aider.chat",),
    ),
    Tool(
        "Jules",
        first_seen="2025-12",
        ids=frozenset({161369871}),
        logins=words("google-labs-jules[bot]"),
        names=_names("google jules, google-labs-jules[bot]"),
        sites=("jules.google", "jules.google.com"),
        sessions=("jules.google.com/task/", "jules.google.com/session/"),
    ),
    Tool(
        "Gemini Code Assist",
        first_seen="2026-01",
        ids=frozenset({176961590}),
        logins=words("gemini-code-assist[bot]"),
        names=_names("gemini-code-assist[bot], gemini code assist"),
        suggests=True,
    ),
    Tool(
        "Gemini CLI",
        first_seen="2026-01",
        ids=frozenset({218312386, 218195315}),
        logins=words("gemini-cli[bot] gemini-cli-robot gemini-cli"),
        addresses=words("gemini-cli-robot@google.com gemini@google.com"),
        names=_names("gemini cli, gemini-cli, gemini-cli[bot], google gemini, gemini ai, gemini agent"),
        first=("gemini",),
        sites=("gemini.google.com", "github.com/google-gemini/gemini-cli", "geminicli.com"),
    ),
    Tool(
        "Amp",
        first_seen="2026-01",
        addresses=words("amp@ampcode.com"),
        names=_names("amp code, ampcode, sourcegraph amp"),
        first=("amp",),
        keys=words("amp-thread-id"),
        sites=("ampcode.com",),
        sessions=("ampcode.com/threads/T-",),
    ),
    Tool(
        "opencode",
        first_seen="2026-04",
        addresses=words("noreply@opencode.ai"),
        names=_names("opencode"),
        sites=("opencode.ai",),
        sessions=("opncd.ai/share/", "opencode.ai/s/"),
    ),
    Tool("Junie", addresses=words("junie@jetbrains.com"), names=_names("jetbrains junie"), first=("junie",)),
    Tool(
        "Windsurf",
        addresses=words("windsurf@codeium.com"),
        names=_names("windsurf ai, windsurf cascade"),
        first=("windsurf",),
        sites=("windsurf.com", "codeium.com/windsurf"),
    ),
    Tool(
        "Factory Droid",
        first_seen="2026-03",
        ids=frozenset({138933559}),
        logins=words("factory-droid[bot]"),
        names=_names("factory-droid[bot], factory droid"),
        sites=("factory.ai",),
    ),
    Tool("Mistral Vibe", addresses=words("vibe@mistral.ai"), names=_names("mistral vibe")),
    Tool(
        "Firebender",
        first_seen="2026-04",
        addresses=words("help@firebender.com"),
        names=_names("firebender"),
        sites=("firebender.com",),
    ),
    Tool(
        "TRAE",
        first_seen="2026-08",
        addresses=words("noreply@bytedance.com"),
        names=_names("trae cli, trae ai"),
        first=("trae",),
    ),
    Tool("Oz", addresses=words("oz-agent@warp.dev"), names=_names("warp agent, warp oz"), sites=("warp.dev",)),
    Tool(
        "Sisyphus",
        first_seen="2026-03",
        addresses=words("clio-agent@sisyphuslabs.ai"),
        sites=("github.com/code-yeongyu/oh-my-opencode", "github.com/code-yeongyu/oh-my-openagent"),
    ),
    Tool(
        "Qwen Code",
        first_seen="2026-01",
        addresses=words("qwen-coder@alibabacloud.com qwen@tongyi.aliyun.com"),
        names=_names("qwen-coder, qwen coder, qwen code, qwen-code"),
        first=("qwen",),
    ),
    Tool(
        "Crush",
        first_seen="2026-04",
        addresses=words("crush@charm.land"),
        first=("crush",),
        sites=("charm.land", "github.com/charmbracelet/crush"),
    ),
    Tool("Antigravity", names=_names("antigravity, google antigravity"), first=("agy",)),
    Tool("OpenHands", addresses=words("openhands@all-hands.dev"), names=_names("openhands")),
    Tool("Codebuff", first_seen="2026-08", names=_names("codebuff"), sites=("codebuff.com",)),
    Tool("Grok", addresses=words("noreply@xai.com"), first=("grok",)),
    Tool(
        "CodeRabbit",
        first_seen="2024-06",
        ids=frozenset({136622811}),
        logins=words("coderabbitai[bot]"),
        names=_names("coderabbitai[bot], coderabbit"),
        suggests=True,
    ),
    Tool(
        "Sourcery",
        first_seen="2023-06",
        ids=frozenset({58596630}),
        logins=words("sourcery-ai[bot]"),
        names=_names("sourcery-ai[bot], sourcery ai, sourceryai"),
        suggests=True,
    ),
    Tool(
        "cubic",
        first_seen="2026-05",
        ids=frozenset({191113872}),
        logins=words("cubic-dev-ai[bot]"),
        names=_names("cubic-dev-ai[bot]"),
        suggests=True,
    ),
)
"""in order: if two entries match, the first counts"""

MODELS: tuple[tuple[str, str], ...] = (
    ("claude-", "Claude Code"),
    ("claude ", "Claude Code"),
    ("aws claude ", "Claude Code"),
    ("anthropic claude", "Claude Code"),
    ("opus ", "Claude Code"),
    ("sonnet ", "Claude Code"),
    ("gpt-", "Codex"),
    ("gpt ", "Codex"),
    ("openai gpt", "Codex"),
    ("gemini", "Gemini CLI"),
    ("grok", "Grok"),
    ("qwen", "Qwen Code"),
    ("deepseek", "DeepSeek"),
    ("kimi", "Kimi"),
    ("glm-", "GLM"),
    ("llama", "Llama"),
)
"""model families as the prefix of a name before its version, with the tool that such a line counts for"""

NOTE_TOOLS: tuple[tuple[str, str], ...] = (
    ("claude", "Claude Code"),
    ("claude-code", "Claude Code"),
    ("copilot", "Copilot"),
    ("github-copilot", "Copilot"),
    ("github-copilot-cli", "Copilot"),
    ("cursor", "Cursor"),
    ("codex", "Codex"),
    ("gemini", "Gemini CLI"),
    ("amp", "Amp"),
    ("opencode", "opencode"),
    ("windsurf", "Windsurf"),
    ("droid", "Factory Droid"),
    ("junie", "Junie"),
)
"""names of tools in line notes, and their names here"""
