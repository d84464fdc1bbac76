"""Which tool does a line, a signature or an address identify, if any?

A tool's user id or address is evidence; a bare name only if no person has it. All these texts come from strangers: they
are cut, split and compared, and the patterns have no nested repetition.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from bot.landing.identity.addresses import noreply
from bot.landing.identity.machines import machine_of, unlisted_machine
from bot.landing.identity.registry import Machine, machines, machines_by, safe_name, valued_keys
from bot.landing.message.lines import Message
from bot.landing.message.trailers import as_trailer
from bot.model.commit import Signature

NamedTool = tuple[str, bool]
"""(the tool's name, whether it reviews: as co-author such a tool means an applied suggestion)"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CREDITS = _words(
    "co-authored-by co-developed-by co-written-by co-committed-by authored-by written-by signed-off-by lead-authored-by"
)
"""keys whose value is a signature"""
ASSISTS = _words(
    "assisted-by ai-assisted-by generated-by ai-generated-by generated-with made-with created-with "
    "created-by built-with written-with co-authored-with ai-co-authored-by assisted-with ai-tool ai-agent "
    "ai-model agent-signature ai-assistant coding-agent assissted-by assited-by"
)
"""keys whose value names a helper; people also use some of them for people, so the value must name a tool"""
FLAGS = _words("ai-assisted ai-generated ai-used ai-authored llm-assisted")
"""keys whose value is yes or no, possibly with a tool"""

UNNAMED = "AI (not named)"
_DENIALS = frozenset(("no", "none", "false", "n/a", "na", "never", "0", "0%", "not used", "-", ""))
_AFFIRMATIONS = frozenset(("yes", "true", "partial", "partially", "full", "fully", "mostly", "y", "100%", "50%"))
_MARKUP = str.maketrans("", "", "[]`*_\"'🤖✨⚡🧠🪄💘🎯")
_BEHIND_NAME = re.compile(
    r"(?:\s(?:code|cli|agent|ai|app|opus|sonnet|haiku|fable|mythos"
    r"|flash|pro|max|mini|composer)\b"
    r"|\sv?\d|[ -]?\(|-\w|[:/,]|\s?v?\d)"
)
_KERNEL_FORM = re.compile(r"(?P<name>[a-z][\w.+-]{1,30}):(?=[\w./-]{0,60}\d)")
_UNKNOWN = re.compile(r"\b(?:ai|llm|gpt)\b|-(?:ai|agent|bot|coder)\b|\[bot\]")
_FOOTER = re.compile(
    r"(?:this (?:commit|change|diff|pr|pull request) (?:was|has been) )?(?:ai[- ]|vibe[- ])?"
    r"(?:generated|created|made|built|written|authored|implemented|developed|coded|drafted|assisted|ultraworked"
    r"|co-authored|pair[- ]programmed)"
    r" (?:with|by|using|via) (?:(?:the )?(?:assistance|help) (?:from|of) )?(?P<target>.{2,200})",
    re.IGNORECASE,
)
_HAS_FOOTER = re.compile(r"(?:ed|made|built|written) (?:with|by|using|via) ", re.IGNORECASE)
_FOOTERS = re.compile(
    r"\n[^a-z\n]{0,12}+(?=[abcdgimptuvw])(?:this (?:commit|change|diff|pr|pull request) (?:was|has been) )?"
    r"(?:ai[- ]|vibe[- ])?"
    r"(?:generated|created|made|built|written|authored|implemented|developed|coded|drafted|assisted|ultraworked"
    r"|co-authored|pair[- ]programmed)"
    r" (?:with|by|using|via) "
)
"""where a line of a lower-case message begins like a footer: searching the whole text is fast, and a check of the
first letter rules most lines out"""
_LONGEST_LEAD = 40


@lru_cache(maxsize=2048)
def tool_of(sig: Signature) -> NamedTool | None:
    """The tool that the registry or its rule for unlisted machines finds behind a signature."""
    if sig.stated == "person":
        return None
    machine = machine_of(sig)
    if machine is not None:
        return (machine.name, machine.suggests) if machine.is_ai else None
    if sig.name.strip().lower().endswith("(aider)"):
        return "aider", False
    inside = _model(sig.name.lower().partition("(")[2].removeprefix("model: "))
    if inside is not None:
        return inside, False
    unlisted = unlisted_machine(sig)
    if unlisted is None or not unlisted.ai:
        return None
    return _model(unlisted.name.lower()) or unlisted.name.removesuffix("[bot]"), False


def read_signature(value: str) -> Signature | None:
    """`Name <address>`, also with common mistakes: no closing bracket, another one, no address, no @."""
    name, opened, rest = value.partition("<")
    name = name.strip().strip('"')
    if not opened:
        return Signature(name, "") if name else None
    return Signature(name, rest.strip().rstrip(">)]. ").partition(">")[0].strip())


def tool_in_value(value: str) -> str | None:
    """The tool named by the value of `Assisted-by:` or a footer; None for a person's name or any other program."""
    if "<" in value:
        sig = read_signature(value)
        found = tool_of(sig) if sig else None
        if found is not None or sig is None:
            return found[0] if found else None
        known = noreply(sig.email)
        machine = known is not None and known[1].endswith(("-bot", "[bot]", "-ai", "-agent"))
        return sig.name[:60] if machine else _model(sig.name.lower())
    text = " ".join(value.partition(" on behalf of ")[0].translate(_MARKUP).split())
    return _tool_in_text(text.lower(), text)


def _tool_in_text(lower: str, text: str) -> str | None:
    tool = safe_name(lower)
    if tool is not None:
        return tool.name
    for word, owner in machines_by("first").items():
        if lower.startswith(str(word)):
            behind = lower[len(str(word)) :].rstrip(" .!")
            if not behind or _BEHIND_NAME.match(behind):
                return owner.name
    model = _model(lower)
    if model is not None:
        return model
    kernel = _KERNEL_FORM.match(lower)
    if kernel is not None:
        return _model(lower[kernel.end() :]) or text[: len(kernel["name"])]
    return text.partition(",")[0][:40].strip() if len(text) <= 60 and _UNKNOWN.search(lower) else None


def _model(lower: str) -> str | None:
    """A model instead of a tool: its family and a version."""
    for family, machine in machines_by("models").items():
        begun = str(family)
        if lower.startswith(begun) and any(sign.isdecimal() for sign in lower[len(begun) : len(begun) + 12]):
            return machine.name
    return None


@cache
def _keys() -> frozenset[str]:
    """The keys of all trailers that may name a tool, in lower case."""
    return CREDITS | ASSISTS | FLAGS | {str(key) for key in machines_by("keys")} | set(valued_keys())


@cache
def _session_starts() -> re.Pattern[str]:
    return re.compile("://(?:" + "|".join(re.escape(str(start).lower()) for start in machines_by("sessions")) + ")")


def attribution_candidates(message: Message) -> list[str]:
    """The lines of a message after the first that may attribute work: `line_tool` finds nothing in the others."""
    lines = message.lines[1:]
    found = message.lines_with_keys(_keys())
    if _FOOTERS.search(message.lower):
        found += [line for line in lines if _HAS_FOOTER.search(line)]
    if _session_starts().search(message.lower):
        found += [line for line in lines if "://" in line]
    return found


@lru_cache(maxsize=4096)
def line_tool(line: str) -> NamedTool | None:
    """The tool that a single line attributes work to: a trailer, a footer, or the address of a session."""
    trailer = as_trailer(line)
    if trailer is not None:
        found = _trailer_tool(trailer[0].lower(), trailer[1])
        if found is not None:
            return found
    return _footer_tool(line) or _session_line(line)


def _trailer_tool(key: str, value: str) -> NamedTool | None:
    tool = machines_by("keys").get(key) or _valued(key, value)
    if tool is not None and value:
        return tool.name, tool.suggests
    if key in CREDITS:
        sig = read_signature(value)
        return tool_of(sig) if sig else None
    if key in ASSISTS:
        name = tool_in_value(value)
        return (name, False) if name and value.strip().lower() not in _DENIALS else None
    if key in FLAGS and value.strip().lower() not in _DENIALS:
        name = tool_in_value(value) or (UNNAMED if value.strip().lower() in _AFFIRMATIONS else None)
        return (name, False) if name else None
    return None


def _valued(key: str, value: str) -> Machine | None:
    """The machine of a trailer that others write, too, if its value is that machine's."""
    lower = value.lower()
    return next((machine for part, machine in valued_keys().get(key, ()) if part in lower), None)


def _footer_tool(line: str) -> NamedTool | None:
    if not _HAS_FOOTER.search(line):
        return None
    start = next((at for at, sign in enumerate(line[:12]) if sign.isascii() and sign not in "_*-# "), 0)
    text = line[start:].rstrip(" *_")
    match = _FOOTER.match(text)
    if match is None:
        return None
    target, _, details = match["target"].strip().partition(" • ")
    tool = _linked_tool(target) if target.startswith("[") else _plain_footer(target)
    tool = tool or _stated_model(details)
    return (tool, False) if tool else None


def _stated_model(details: str) -> str | None:
    """The tool of a footer that says more: `Model: anthropic:claude-opus-4 • Thinking: high`."""
    _, found, model = details.lower().translate(_MARKUP).partition("model: ")
    name = model.partition(" ")[0]
    return _model(name.rpartition(":")[2].rpartition("/")[2]) if found else None


def _linked_tool(target: str) -> str | None:
    """`[Name](address)` followed by at most a few words."""
    name, found, rest = target[1:].partition("](")
    address, closed, behind = rest.partition(")")
    if not found or not closed or (len(behind) > 1 and behind.lstrip()[:4].lower() not in ("via ", "and ", "(", "· ")):
        return None
    tool = _site(address) or safe_name(name.lower())
    return tool.name if tool else None


def _site(address: str) -> Machine | None:
    location = address.partition("://")[2].lower().removeprefix("www.") or address.lower()
    for site, tool in machines_by("sites").items():
        if isinstance(site, str) and location.startswith(site) and location[len(site) :][:1] in ("", "/", "?", "#"):
            return tool
    return None


def _plain_footer(target: str) -> str | None:
    """A tool's name followed by nothing but its version."""
    text = " ".join(target.translate(_MARKUP).split()).rstrip(" .!")
    if len(text) > 60 or len(text.partition("(")[0].split()) > 4:
        return None
    name = _tool_in_text(text.lower(), text)
    known = name in {machine.name for machine in machines() if machine.is_ai}
    words = text.lower().partition("(")[0].split()
    return name if known and not _PROSE.intersection(words) else None


_PROSE = _words("to in on for but by because and or of from was is are it as which that output tests at")


def find_session(text: str) -> tuple[str, str] | None:
    """(tool, address) of the first address of an agent's session in a text."""
    if "://" not in text:
        return None
    for prefix, tool in machines_by("sessions").items():
        at = text.find("://" + str(prefix))
        if at >= 0:
            end = next((n for n in range(at, min(len(text), at + 200)) if text[n] in " \t\r\n)>]\"'"), at + 200)
            return tool.name, text[at + 3 : end]
    return None


def _session_line(line: str) -> NamedTool | None:
    """A line that consists of a session's address, possibly after a short label (`Link to Devin session: …`)."""
    found = find_session(line)
    if found is None:
        return None
    lead, _, rest = line.partition("://")
    label = lead.removesuffix("https").removesuffix("http").strip(" <([*_-")
    is_only_word = len(rest.split()) == 1
    return (
        (found[0], False)
        if is_only_word and (not label or (len(label) <= _LONGEST_LEAD and label.endswith(":")))
        else None
    )


def branch_tool(branch: str) -> str | None:
    """The tool whose background agent names its branches like this. People called Devin have branches, too, so names
    that people have must look generated."""
    lower = branch.strip().lower().removeprefix("refs/heads/")
    for prefix, tool in machines_by("branches").items():
        if lower.startswith(str(prefix)) and len(lower) > len(str(prefix)):
            return tool.name
    if lower.startswith("devin/") and _TIMESTAMP.match(lower[6:]):
        return "Devin"
    if lower.startswith("claude/") and _CLAUDE_BRANCH.search(branch):
        return "Claude Code"
    return None


_TIMESTAMP = re.compile(r"\d{10}\b")
_CLAUDE_BRANCH = re.compile(r"(?:issue|pr)-\d{1,7}-\d{8}|-01[A-Za-z0-9]{20,30}$|session[-_]?01[A-Za-z0-9]{10,}$")
