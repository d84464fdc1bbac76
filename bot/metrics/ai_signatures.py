"""By which ids, addresses, names, lines, links and branches does each AI tool show itself?

To add a tool, add one entry to TOOLS. Ids, addresses and forms were read in 26 public histories and in the tools' own
documentation; `first_seen` is the month of the oldest commit that showed the tool in the public histories of
`benchmarks/metrics/ai_usage.py --first-seen`, None for what only documentation shows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. Texts are in lower case. A name is evidence by itself only where no person can be called so."""

    name: str
    first_seen: str | None = None
    ids: frozenset[int] = frozenset()
    """user ids on GitHub"""
    logins: frozenset[str] = frozenset()
    """logins that GitHub or a noreply address proves"""
    addresses: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    """whole names that no person has"""
    keys: frozenset[str] = frozenset()
    """trailers that this tool alone writes"""
    credits: tuple[str, ...] = ()
    """what the value of `Assisted-by:`, `Generated-by:` and of a footer `Generated with ...` begins with"""
    links: tuple[str, ...] = ()
    """addresses of its sessions, as regular expressions; a badge or the tool's home page is not one"""
    branches: tuple[str, ...] = ()
    """beginnings of branches it makes, as regular expressions"""
    suggests: bool = False
    """as co-author it stands for a suggestion that somebody applied"""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


TOOLS: tuple[Tool, ...] = (
    Tool(
        "Claude Code",
        ids=frozenset({209825114, 81847}),
        logins=_set("claude[bot] claude"),
        addresses=_set("noreply@anthropic.com no-reply@anthropic.com"),
        names=frozenset({"claude code", "claude ai", "claude[bot]", "anthropic claude"}),
        keys=_set("claude-session claude-generated-by claude-code-session"),
        credits=("claude code", "claude.ai", "anthropic claude", "claude"),
        links=(r"claude\.ai/code/session_[\w-]{6}",),
        branches=(
            r"claude/issue-\d",
            r"claude/[\w./-]{1,100}-(?:01[A-Za-z0-9]{20,28}|(?=[a-z]{0,4}[A-Z0-9])[A-Za-z0-9]{5})$",
        ),
    ),
    Tool(
        "Copilot coding agent",
        ids=frozenset({198982749}),
        logins=_set("copilot-swe-agent[bot] copilot-swe-agent"),
        names=frozenset({"copilot-swe-agent[bot]", "copilot-swe-agent"}),
        keys=_set("agent-logs-url"),
        credits=("copilot coding agent", "github copilot coding agent"),
        links=(r"github\.com/[\w.-]{1,39}/[\w.-]{1,100}/sessions/[\w-]{6}",),
        branches=(r"copilot/",),
    ),
    Tool(
        "Copilot Autofix",
        ids=frozenset({62310815, 223894421}),
        logins=_set("github-advanced-security[bot] github-code-quality[bot]"),
        names=frozenset({"copilot autofix powered by ai", "copilot autofix"}),
        credits=("copilot autofix",),
        suggests=True,
    ),
    Tool(
        "Copilot review", ids=frozenset({175728472}), logins=_set("copilot-pull-request-reviewer[bot]"), suggests=True
    ),
    Tool(
        "Copilot",
        ids=frozenset({223556219}),
        logins=_set("copilot copilot-cli[bot]"),
        addresses=_set("copilot@github.com noreply@copilot.github.com"),
        names=frozenset(
            {"copilot", "github copilot", "copilot app", "copilot cli", "github copilot cli", "copilot chat"}
        ),
        credits=("github copilot", "copilot"),
    ),
    Tool(
        "Cursor",
        logins=_set("cursoragent cursor[bot] cursoragent[bot]"),
        ids=frozenset({199161495, 206951365}),
        addresses=_set("cursoragent@cursor.com agent@cursor.com cursor@cursor.com"),
        names=frozenset({"cursor agent", "cursor ai", "cursor[bot]", "cursoragent"}),
        credits=("cursor agent", "cursor ai", "cursor"),
        links=(r"cursor\.com/(?:background-agent|agents)\?\w{0,6}bcId=", r"cursor\.com/agents/bc-[\w-]{6}"),
        branches=(r"cursor/",),
    ),
    Tool(
        "Devin",
        ids=frozenset({158243242}),
        logins=_set("devin-ai-integration[bot] devin-ai-integration"),
        addresses=_set(
            "devin-ai-integration[bot]@users.noreply.github.com devin@cognition.ai devin@cognition-labs.com"
        ),
        names=frozenset({"devin ai", "devin-ai-integration[bot]", "devin-ai-integration"}),
        credits=("devin ai",),
        links=(r"app\.devin\.ai/sessions/[\w-]{6}",),
        branches=(r"devin/\d{9,12}-",),
    ),
    Tool(
        "Codex",
        ids=frozenset({199175422}),
        logins=_set("chatgpt-codex-connector[bot]"),
        addresses=_set("noreply@openai.com codex@openai.com"),
        names=frozenset(
            {"codex", "openai codex", "codex cli", "chatgpt", "chatgpt codex", "chatgpt-codex-connector[bot]"}
        ),
        credits=("openai codex", "codex", "chatgpt", "openai gpt", "gpt-"),
        links=(r"chatgpt\.com/(?:codex/(?:cloud/)?tasks/|s/cd_)[\w-]{6}",),
        branches=(r"codex/",),
    ),
    Tool(
        "aider",
        addresses=_set("aider@aider.chat noreply@aider.dev noreply@aider.chat"),
        names=frozenset({"aider"}),
        credits=("aider",),
    ),
    Tool(
        "Jules",
        ids=frozenset({161369871}),
        logins=_set("google-labs-jules[bot] google-labs-jules"),
        names=frozenset({"google jules", "google-labs-jules[bot]", "google-labs-jules"}),
        credits=("google jules", "jules ai"),
        links=(r"jules\.google\.com/(?:task|session)s?/\d{6}",),
    ),
    Tool(
        "Gemini CLI",
        ids=frozenset({218312386}),
        logins=_set("gemini-cli[bot] gemini-cli-robot"),
        addresses=_set("gemini-cli-robot@google.com gemini@google.com gemini-cli@google.com gemini-noreply@google.com"),
        names=frozenset(
            {"gemini cli", "gemini-cli", "gemini-cli[bot]", "google gemini", "gemini ai", "gemini-cli-robot"}
        ),
        credits=("gemini cli", "gemini-cli", "google gemini", "gemini"),
    ),
    Tool(
        "Gemini Code Assist",
        ids=frozenset({176961590}),
        logins=_set("gemini-code-assist[bot]"),
        names=frozenset({"gemini-code-assist[bot]", "gemini code assist", "gemini-code-assist"}),
        credits=("gemini code assist",),
        suggests=True,
    ),
    Tool(
        "Amp",
        addresses=_set("amp@ampcode.com noreply@ampcode.com"),
        names=frozenset({"amp code", "sourcegraph amp"}),
        keys=_set("amp-thread-id"),
        credits=("amp code", "ampcode", "sourcegraph amp"),
        links=(r"ampcode\.com/threads/t-[\w-]{6}",),
    ),
    Tool(
        "opencode",
        logins=_set("opencode-agent[bot] opencode[bot]"),
        addresses=_set("noreply@opencode.ai opencode@opencode.ai opencode@sst.dev"),
        names=frozenset({"opencode", "opencode-agent[bot]"}),
        credits=("opencode",),
        links=(r"opencode\.ai/s/[\w-]{6}",),
    ),
    Tool(
        "Junie",
        addresses=_set("junie@jetbrains.com"),
        names=frozenset({"jetbrains junie"}),
        credits=("jetbrains junie", "junie"),
    ),
    Tool(
        "Windsurf",
        addresses=_set("windsurf@codeium.com noreply@codeium.com cascade@windsurf.com noreply@windsurf.com"),
        names=frozenset({"windsurf ai", "windsurf cascade", "codeium windsurf"}),
        credits=("windsurf",),
    ),
    Tool(
        "Factory Droid",
        ids=frozenset({138933559}),
        logins=_set("factory-droid[bot]"),
        names=frozenset({"factory-droid[bot]", "factory droid"}),
        credits=("factory droid", "droid (factory"),
    ),
    Tool(
        "Mistral Vibe",
        addresses=_set("vibe@mistral.ai"),
        names=frozenset({"mistral vibe"}),
        credits=("mistral vibe",),
    ),
    Tool("Firebender", names=frozenset({"firebender"}), credits=("firebender",)),
    Tool(
        "TRAE",
        addresses=_set("noreply@bytedance.com trae@bytedance.com"),
        names=frozenset({"trae ai"}),
        credits=("trae",),
    ),
    Tool(
        "Oz",
        addresses=_set("oz-agent@warp.dev agent@warp.dev"),
        names=frozenset({"warp agent"}),
        credits=("warp agent", "warp.dev"),
    ),
    Tool(
        "Sisyphus", addresses=_set("sisyphus@ohmyopencode.com clio-agent@sisyphuslabs.ai"), credits=("sisyphus agent",)
    ),
    Tool(
        "Qwen Coder",
        addresses=_set("qwen-coder@alibabacloud.com noreply@alibaba-inc.com"),
        names=frozenset({"qwen-coder", "qwen coder", "qwen code", "qwen-code"}),
        credits=("qwen-coder", "qwen coder", "qwen code", "qwen"),
    ),
    Tool(
        "CodeRabbit",
        ids=frozenset({136622811}),
        logins=_set("coderabbitai[bot]"),
        names=frozenset({"coderabbitai[bot]", "coderabbit"}),
        credits=("coderabbit",),
        suggests=True,
    ),
    Tool(
        "Sourcery",
        ids=frozenset({58596630}),
        logins=_set("sourcery-ai[bot]"),
        names=frozenset({"sourcery-ai[bot]", "sourcery ai"}),
        suggests=True,
    ),
    Tool(
        "other",
        names=frozenset({"cline", "roo code", "kilo code", "deepseek", "grok"}),
        keys=_set("ai-assistant ai-model ai-tool ai-generated-by"),
        credits=(
            "cline",
            "roo code",
            "kilo code",
            "kiro",
            "deepseek",
            "grok",
            "llama",
            "kimi",
            "glm-",
            "ai ",
            "ai-",
            "llm",
            "goose",
        ),
    ),
)
"""in order: where two tools would match, the first is meant, so the longer names stand before the shorter"""

CREDIT_KEYS = _set("co-authored-by co-developed-by lead-authored-by authored-by signed-off-by")
"""trailers that name an author by name and address; a review or a report is no authorship"""
ASSIST_KEYS = _set(
    "assisted-by generated-by generated-with made-with built-with created-by created-with written-by ai-assisted-by "
    "ai-co-authored-by co-created-by"
)
"""trailers whose value may be the plain name of a tool"""
MODELS = r"claude[ -](?:opus|sonnet|haiku|fable|mythos|code|instant|\d)|gpt-?\d|gemini[ -](?:pro|flash|ultra|\d)|o[134]-(?:mini|pro)"
"""beginnings of names that only models have"""
