"""Which kind does a change itself state, by a revert marker, a prefix, a tag, an emoji, a label or its branch?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from msgspec import Struct, field

from bot.metrics.kind_upkeep import is_stated_upkeep
from bot.model.ids import Kind

StatedKind = tuple[Kind, str]
"""a kind and the rule behind it"""


class OwnKinds(Struct, frozen=True):
    """A repository's configuration of its own labels and scopes; keys in lower case."""

    labels: Mapping[str, Kind] = field(default_factory=dict)
    scopes: Mapping[str, Kind] = field(default_factory=dict)
    """by scope of a prefix, or by leading bracket tag"""


NO_OWN_KINDS = OwnKinds()


def _by_word(table: dict[Kind, str]) -> dict[str, Kind]:
    return {word: kind for kind, words in table.items() for word in words.split()}


_TYPES = _by_word(
    {
        "feature": "feat feats feature features enhancement enh newfeature new-feature",
        "bug_fix": "fix fixes fixed bugfix bugfixes bug-fix bug bugs hotfix hot-fix fixup quickfix regression regr "
        "security",
        "docs": "docs doc documentation document readme changelog contributing typo typos",
        "test": "test tests testing tst bench benchmark benchmarks",
        "refactor": "refactor refactoring refactored refact refac ref cleanup clean-up cln simplify",
        "perf": "perf performance optimize optimise optimization",
        "style": "style styles styling sty formatting fmt lint linting",
        "build": "build builds dep bld packaging",
        "ci": "ci cicd ci/cd gha travis appveyor circleci jenkins",
        "chore": "chore chores maint mnt maintenance housekeeping internal misc meta gitignore",
        "upkeep": "release bump deps dependency dependencies",
        "revert": "revert reverts",
    }
)
"""types of https://www.conventionalcommits.org and common variants"""

# Tags in brackets are names of modules as often as types, so only words that hardly name a part of a product are read.
_NO_TAGS = "internal misc meta release build security bench benchmark benchmarks jenkins"
_TAGS = {word: kind for word, kind in _TYPES.items() if word not in _NO_TAGS.split()}

_EMOJI = _by_word(
    {
        "feature": "✨ :sparkles: 🎉 :tada: 🚸 :children_crossing: 💬 :speech_balloon: 🚩 :triangular_flag_on_post: 👔 "
        ":necktie: 🛂 :passport_control: 🌐 :globe_with_meridians: 🥅 :goal_net: ♿ :wheelchair: 📈 🔊 :loud_sound: 🥚 "
        ":chart_with_upwards_trend: :egg: 🔍 :mag: 🦺 :safety_vest: 🆕 :new: 🚀 :rocket:",
        "bug_fix": "🐛 :bug: 🚑 :ambulance: 🩹 :adhesive_bandage: 🔒 :lock: 🔐 :closed_lock_with_key:",
        "docs": "📝 :memo: ✏ :pencil2: 📄 :page_facing_up: 💡 :bulb: 📚 :books: 📖 :book: :pencil:",
        "test": "✅ :white_check_mark: 🧪 :test_tube: 🤡 :clown_face: 📸 :camera_flash: 🚨 :rotating_light:",
        "refactor": "♻ :recycle: 🔥 :fire: 🚚 :truck: 🏗 :building_construction: ⚰ :coffin: 🏷 :label: 🗑 :wastebasket:",
        "perf": "⚡ :zap: 🐎 :racehorse: 🧵 :thread:",
        "style": "🎨 :art: 💄 :lipstick: 💅 :nail_care: 👕 :shirt:",
        "build": "⬆ :arrow_up: ⬇ :arrow_down: 📌 :pushpin: ➕ :heavy_plus_sign: ➖ :heavy_minus_sign: 📦 :package: 🧱 "
        ":bricks: 🐳 :whale:",
        "ci": "👷 :construction_worker: 💚 :green_heart:",
        "chore": "🔧 :wrench: 🔨 :hammer: 🙈 :see_no_evil: 👥 :busts_in_silhouette: 🚧 :construction: 🌱 "
        ":seedling: :technologist:",
        "upkeep": "🔖 :bookmark: 🔀 :twisted_rightwards_arrows:",
        "revert": "⏪ :rewind:",
    }
)
"""gitmoji and similar emoji, as commonly used: https://gitmoji.dev"""

_OBJECTS_OF_SENTENCES = (
    "doc docs documentation typo typos test tests ci lint build comment comments readme changelog warning warnings "
    "style formatting example examples"
)
_SENTENCE_OBJECTS = frozenset(_OBJECTS_OF_SENTENCES.split())
"""in `fix docs: …` the first word is a verb, not a type"""
_SIGN = re.compile(r"\s{0,4}(:[a-z0-9_+-]{2,32}:|[\u203c-\u3299\U0001f000-\U0001faff])[\ufe0f\u200d]{0,2}\s{0,4}")
_TICKET = re.compile(
    r"\s{0,4}(?:\[[A-Z][A-Z0-9_]{1,9}-\d{1,7}\]|\(?[A-Z][A-Z0-9_]{1,9}-\d{1,7}\)?|\[?#\d{1,7}\]?)[:\s-]{1,3}"
)
_PREFIX = re.compile(
    r"(?P<type>[A-Za-z][A-Za-z/_-]{1,15})(?:[,&+|/ ]{1,2}[A-Za-z]{2,12}){0,2}"
    r"(?P<scope>\s?\([^()\n]{0,80}\)|\[[^\[\]\n]{1,80}\])?\s?!?(?:\s?[:：](?!:)|\s-\s)\s{0,4}"
)
_TAG = re.compile(r"[\[(【]\s?(?P<tag>[^\[\]()【】\n]{2,40}?)\s?[\])】](?:\([^()\n]{0,60}\))?\s?[:-]?\s{0,4}")
_REVERTS = re.compile(
    r"(?:Revert|Reverts|Rollback|Roll back|Back out|Backout)\b(?: commit| PR| pull request|:)?\s{0,2}"
    r"(?:[\"“]|\(?[\w./-]{0,80}#\d|[0-9a-f]{7,40}\b)",
    re.IGNORECASE,
)
_BODY_REVERTS = re.compile(r"(?:This reverts|Reverts)\b (?:commit|PR|pull request|[\w./-]{0,140}#\d)", re.IGNORECASE)
_RELAND = re.compile(r"(?P<word>Revert|Reapply|Reland|Re-land)\b:?\s?[\"“]?\s?", re.IGNORECASE)
_BODY_LINES = 3


def revert_kind(title: str, body: str) -> StatedKind | None:
    """A revert, by its title or the first lines of its body; in a squash list one reverted step is enough."""
    if title[:1] in "RrBb" and _REVERTS.match(title):
        return "revert", "revert marker in the title"
    if "everts " in body:
        lines = [line.strip() for line in body[:2000].split("\n") if line.strip()][:_BODY_LINES]
        if any(_BODY_REVERTS.match(line) for line in takewhile(_is_no_step, lines)):
            return "revert", "revert marker in the message"
    return None


def _is_no_step(line: str) -> bool:
    return not line.startswith("* ")


def relanded_title(title: str) -> str | None:
    """The title inside `Reapply "…"` or `Revert "Revert "…""`: work that lands again; None for other titles."""
    if title[:1] not in ("R", "r"):
        return None
    turns, rest = 0, title
    while turns < 12 and (match := _RELAND.match(rest)):
        turns += 1 if match["word"].lower() == "revert" else 2
        rest = rest[match.end() :]
    quoted = title[: len(title) - len(rest)]
    if turns < 2 or turns % 2 or not ('"' in quoted or "“" in quoted):
        return None
    return rest.rstrip('"” ') or None


def title_kind(title: str, own: OwnKinds = NO_OWN_KINDS) -> StatedKind | None:
    """The kind that a title's prefix, bracket tag or emoji states."""
    if _is_plain(title):
        return None
    rest = title
    ticket = _TICKET.match(rest)
    if ticket:
        rest = rest[ticket.end() :]
    sign = _SIGN.match(rest)
    if sign:
        rest = rest[sign.end() :]
    return _prefix(rest, own) or _tag(rest, own) or (_emoji(sign[1]) if sign else None)


def _prefix(text: str, own: OwnKinds) -> StatedKind | None:
    match = _PREFIX.match(text)
    if match is None:
        return None
    word = match["type"].lower()
    kind = _TYPES.get(word) or _TYPES.get(word.partition("/")[0])
    if kind in ("feature", "bug_fix") and _is_sentence(match[0].lower().rstrip(": ").split()[1:]):
        return None
    scope = (match["scope"] or "").strip(" ()[]").lower()
    if scope in own.scopes:
        return own.scopes[scope], f"scope {scope}"
    if kind in ("feature", "bug_fix") and is_stated_upkeep(scope, text[match.end() :]):
        return "upkeep", f"an update or release behind the prefix {match['type']}:"
    return (kind, f"stated prefix {match['type']}:") if kind else None


def _is_sentence(others: Sequence[str]) -> bool:
    """Whether the words between a type and its colon show that the type is a verb: `fix scripts/lint: …`."""
    return any(word in _SENTENCE_OBJECTS or (word.isalpha() and word not in _TYPES) or "/" in word for word in others)


def states_upkeep(title: str) -> bool:
    """Whether a prefix and what follows it tell of upkeep: `chore(deps): …`, `build: bump version`."""
    if _is_plain(title):
        return False
    match = _PREFIX.match(title)
    if match is None or match["type"].lower() not in _TYPES:
        return False
    scope = (match["scope"] or "").strip(" ()[]").lower()
    return scope == "release" or is_stated_upkeep(scope, title[match.end() :])


def _tag(text: str, own: OwnKinds) -> StatedKind | None:
    match = _TAG.match(text)
    if match is None:
        return None
    tag = match["tag"].lower()
    if tag in own.scopes:
        return own.scopes[tag], f"tag {tag}"
    kind = _TAGS.get(tag)
    return (kind, f"stated tag [{tag}]") if kind else None


def _emoji(sign: str) -> StatedKind | None:
    kind = _EMOJI.get(sign)
    return (kind, f"emoji {sign}") if kind else None


def _is_plain(title: str) -> bool:
    """Whether a quick check shows that a title has no leading mark: most have none."""
    return (
        ":" not in title
        and title[:1] not in "[( #"
        and " - " not in title
        and title.isascii()
        and not (title[:1].isupper() and title[1:2].isupper())
    )


def strip_marks(title: str) -> str:
    """The title without any ticket, emoji and prefix: the text from which the model reads words."""
    if _is_plain(title):
        return title
    for pattern in (_TICKET, _SIGN, _PREFIX):
        match = pattern.match(title)
        if match and match.end() < len(title):
            title = title[match.end() :]
    return title


_LABELS: dict[str, Kind] = _by_word(
    {
        "feature": "feature enhancement feature-request new-feature feat improvement",
        "bug_fix": "bug bugfix fix defect regression crash hotfix bug-fix security",
        "perf": "performance perf optimization",
        "refactor": "refactor refactoring cleanup tech-debt technical-debt",
        "docs": "documentation docs doc",
        "test": "test tests testing",
        "ci": "ci github-actions github_actions continuous-integration",
        "build": "build dependencies deps packaging",
        "style": "style formatting",
        "chore": "chore maintenance housekeeping internal",
        "revert": "revert",
    }
)
_PURPOSE = frozenset(("feature", "bug_fix", "perf", "refactor", "revert"))
_LABEL_GROUPS = ("type", "kind", "t", "c", "k", "category", "changelog", "pr", "semver", "impact", "topic")
_ISSUE_TYPES: dict[str, Kind] = {
    "bug": "bug_fix",
    "feature": "feature",
    "enhancement": "feature",
    "documentation": "docs",
}
_BRANCHES = {word: kind for word, kind in _TYPES.items() if word not in ("release", "new", "meta", "internal")}


def label_kind(labels: Iterable[str], own: OwnKinds = NO_OWN_KINDS) -> StatedKind | None:
    """The kind by labels: those mapped by the repository first, then purposes, then objects; None if they disagree."""
    names = list(labels)
    for label in names:
        if label.strip().lower() in own.labels:
            return own.labels[label.strip().lower()], f"label {_short_name(label)}"
    known = [(kind, label) for label in names if (kind := _LABELS.get(_label_word(label)))]
    for group in ([row for row in known if row[0] in _PURPOSE], known):
        if len({kind for kind, _ in group}) == 1:
            return group[0][0], f"label {_short_name(group[0][1])}"
        if group:
            return None
    return None


def _short_name(text: str) -> str:
    """A name for display: one line, at most 60 characters, not cut within a character."""
    return " ".join(text.split())[:60].encode("utf-8", "replace").decode()


def _label_word(label: str) -> str:
    """`Type: Bug`, `kind/bug`, `C-bug` and `bug :bug:` all give `bug`."""
    text = re.sub(r":[a-z0-9_+-]{2,32}:", "", label.lower())
    text = "".join(sign if sign.isascii() else " " for sign in text).strip()
    for mark in (": ", "/", ":", "-", " - "):
        group, found, rest = text.partition(mark)
        if found and group.strip(" []") in _LABEL_GROUPS and rest.strip():
            text = rest
            break
    return "-".join(text.strip(" []:").split())


def issue_type_kind(issue_types: Iterable[str]) -> StatedKind | None:
    """The kind by the linked issues' types, if they agree."""
    kinds = {kind for one in issue_types if (kind := _ISSUE_TYPES.get(one.strip().lower()))}
    return (next(iter(kinds)), "type of the linked issue") if len(kinds) == 1 else None


def branch_kind(branch: str) -> StatedKind | None:
    """The kind of a branch such as `fix/login` or `someone/feat/login`; the last part is a title, not a type."""
    for word in branch.lower().split("/")[:-1][:3]:
        kind = _BRANCHES.get(word)
        if kind:
            return kind, f"branch {word}/"
    return None


_MERGED = re.compile(r"Merge (?:pull request #\d{1,9} from [^/\s]{1,60}/|branch ')(?P<branch>[^\s']{1,200})")


def merged_branch(message: str) -> str:
    """The branch that a merge commit's message names; empty if it names none."""
    match = _MERGED.match(message)
    return match["branch"] if match else ""
