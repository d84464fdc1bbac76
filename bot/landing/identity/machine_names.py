"""Does the name of an account, a person or an address say that a machine uses it?

The cautious rule for machines that no table lists. Surnames are no evidence: Talbot, Botha, Abbott and people who are
called Bot, Claude, Cody, Devin, Jules or Zed are people.
"""

from __future__ import annotations

import re
from functools import lru_cache

_LOGIN = re.compile(
    r"\[bot\]$|(?:^|[-_+])b[o0]t$|[-_+]robot$|[-_](?:automation|autofix|autoroll|ci|svc|service-account)$|^svc[-_]"
)
"""an account, or the part of an address before the @; after a dot `bot` is a surname"""
_WORK_BOT = re.compile(
    r"^(?:[a-z0-9]+-)?(?:actions|automation|backport|build|changelog|ci|code|codecov|commit|crowdin|dependency|deploy"
    r"|deployment|docker|docs|format|git|github|gitlab|helm|homebrew|import|integration|jekyll|jenkins|k8s|kubernetes|lint"
    r"|merge|nightly|npm|project|proposal|pypi|release|renovate|security|sync|team|test|testing|transifex|translation"
    r"|travis|triage|update|updater|upgrade|vendor|version|weblate|website|wiki)bot$"
)
"""what a robot works on, or with, before `bot`; Talbot, Abbot, Cabot and Herbot are surnames"""
_CAMEL = re.compile(r"^[A-Za-z0-9_-]*[a-z0-9]Bot$")
_NAME = re.compile(
    r"(?i:[\[(]bot[\])]$)| bot$|^bot(?: |$)"
    r"|(?i:\b(?:github|workflow|release|deploy|build) actions?$|\bcontinuous integration$|\bservice (?:account|user)$)"
    r"|\b(?:CI|Autoroller|autoroller|Autoroll|autoroll)$"
    r"|(?i:[- ](?:automation|autoupdater)$)"
    r"|(?i:(?:^|[- ])(?:actions|automation|backport|build|changelog|ci|commit|dependency|deploy|deployment|docs|format"
    r"|github|gitlab|helm|import|integration|lint|merge|nightly|project|proposal|release|security|sync|team|test|testing"
    r"|translation|triage|update|updater|upgrade|vendor|version|website|wiki) ?bot$)"
)
_PATH = re.compile(r"[\w-]+/[\w-]+/[\w-]+\Z")
"""a worker's place among the agents that one program runs: `acme/crew/ann`"""
_ACTION = re.compile(r"[A-Za-z0-9] Action$|^[\w-]+/[\w-]+ action$")
_AGENT = re.compile(
    r"(?:^|[\s_-])(?:(?:ai|coding|code|llm) (?:agent|assistant|bot)|ai|agent|assistant|llm|gpt|chatbot|copilot)(?:\)|$)"
)
"""in lower case: the last word says that it is a model's tool"""
_AGENT_PHRASE = re.compile(
    r"^(?:the )?(?:ai|a\.i\.|coding|code|llm|ai coding|ai code|ai pair|cloud|background) "
    r"(?:agent|assistant|bot|programmer|copilot|pair)$|^ai$|^llm$"
)
_MODEL = re.compile(
    r"^(?:anthropic |aws |google |openai |alibaba |meta |xai |zai |z\.ai )?"
    r"(?:(?:claude|opus|sonnet|haiku|gemini|grok|kimi|glm|minimax|deepseek|qwen\d?|llama|mistral|codestral|devstral|gemma"
    r"|phi|command|nova|composer|swe)[ -](?:[a-z]{1,8}[ -])?[kmrv]?\d+(?:[.-]\d+)?(?![\w@])"
    r"|(?:chat)?gpt-?\d|gpt \d|qwen\d|o[134]-(?:mini|pro|preview))"
)
_MACHINE_LOCAL = re.compile(r"(?:^|[._+-])(?:ai|agent|llm|bot|noreply|no-reply|donotreply|assistant)(?:$|[._+-])")
_GIVEN_NAME = re.compile(r"\bAi\b")
ROLES = frozenset(("noreply", "no-reply", "agent", "ai", "bot"))
_NO_OWNER = frozenset(("github.com", "users.noreply.github.com", "gmail.com", "localhost", "google.com"))
_LETTERS = re.compile(r"[^a-z0-9]+")


def is_machine_login(login: str) -> bool:
    """Whether an account's name, in lower case, is a machine's."""
    return _LOGIN.search(login) is not None or _WORK_BOT.match(login) is not None


@lru_cache(maxsize=2048)
def is_machine_name(name: str) -> bool:
    """Whether a name as written is a machine's, whatever the address: `CI (bot)`, `AcmeBot`, `Acme Release Bot`."""
    name = name.strip()
    if not name:
        return False
    if _NAME.search(name) or _CAMEL.match(name) or _ACTION.search(name) or _PATH.match(name):
        return True
    lower = lower_name(name)
    single = " " not in lower and "-" in lower and (is_machine_login(lower) or is_agent_local(lower))
    return single or is_agent_phrase(lower) or model_of(lower) is not None


def lower_name(name: str) -> str:
    """The name in lower case for the readers below; the given name Ai is not AI."""
    return _GIVEN_NAME.sub("·", name).lower()


def is_agent_phrase(lower: str) -> bool:
    """Whether a name is nothing but words for a model's tool: `AI assistant`, `Coding Agent`."""
    return _AGENT_PHRASE.match(lower) is not None


def model_of(lower: str) -> str | None:
    """The model that a name begins with, its family and its version, as `claude 3.5`; None for any other name."""
    found = _MODEL.match(lower)
    return found[0] if found else None


def says_agent(lower: str) -> bool:
    """Whether the last word of a name, in lower case, says agent, AI or the like; people are called so, too."""
    return _AGENT.search(lower) is not None


def is_machine_local(local: str) -> bool:
    """Whether the part of an address before the @ is a machine's: `noreply`, `agent`, `acme.bot`."""
    return _MACHINE_LOCAL.search(local) is not None


def is_agent_local(local: str) -> bool:
    """Whether the part of an address before the @ ends in `-agent`; after a dot it may be a surname."""
    return local.endswith(("-agent", "_agent", "+agent"))


def is_role_address(local: str, domain: str) -> bool:
    """Whether nobody reads an address, as `noreply@acme.dev`, and its domain is not one that stands for no owner."""
    return local in ROLES and not domain.startswith("example.") and domain not in _NO_OWNER and "." in domain


def names_its_domain(name: str, domain: str) -> bool:
    """Whether a name and a domain are one brand: `Letta Code` and `letta.com`; nobody's address is at such a domain."""
    labels = domain.lower().split(".")
    brand = _LETTERS.sub("", labels[-2] if len(labels) > 1 else labels[0])
    words = [word for word in _LETTERS.split(name.lower()) if word]
    return len(brand) > 1 and (brand in words or brand == "".join(words) or "".join(words[:2]) == brand)
