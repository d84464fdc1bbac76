"""Which texts are only counted and never quoted? A closed list of rules, each with the reason it gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from bot.narrative.cleaning import first_sentence

_BRACKETS = r"(?:[\[(][^\[\]()]{0,60}[\])]\s*:?\s*|backport[^:]{0,40}:\s*|\w{1,12}(?:\([^()]{0,40}\))?!?:\s*)*"
_VERSION = r"v?\d{1,4}(?:\.\d{1,5}){1,3}[\w.+-]{0,20}"

_RELEASE = re.compile(
    rf"{_BRACKETS}(?:(?:prepar\w*|cut|tag|publish|finali[sz]e|make|start|post|pre|do|draft|begin"
    rf"|ready)?[\s-]?(?:for |the )?"
    rf"(?:new |next |patch |minor |major |dev(?:elopment)? )?(?:release|version)s?\b(?! (?:of|in|from|on"
    rf"|with|when|if)\b)(?![\s-]?(?:notes?|branch)\w* \w+ \w+ \w+)"
    rf"|(?:release |version |bump (?:to )?|tag |cut )?[\w@/.-]{{0,30}}?\s?{_VERSION}\s*(?:release|released|final|dev"
    rf"|[-.]?(?:a|alpha|b|beta|rc)[.-]?\d+)?\W*$"
    rf"|(?:bump|increment|update|set|change)\w*\s(?:\w+\s){{0,3}}versions?\b|version bump|back to dev|begin development"
    rf"|(?:start|open)\w* (?:work on|development)|(?:add|update|prepare)\w*\s(?:the\s)?(?:release notes"
    rf"|changelog|change log|news|history)\b"
    rf"|prepar\w*\s.{{0,40}}{_VERSION}(?: release)?\W*$|(?:[\w@/.-]{{1,30}} )?{_VERSION} (?:release|changelog)\b"
    rf"|\[?ci\]? ?release\b|version packages)",
    re.IGNORECASE,
)
_DEPENDENCY = re.compile(
    rf"{_BRACKETS}(?:(?:bump|upgrade|update|downgrade|pin|unpin|roll|lock)\w*\b.*(?:\bfrom\b.*\bto\b"
    rf"|\bto\s+(?:version\s)?{_VERSION}|\bto (?:the )?latest|\bto v?\d+\b)"
    rf"|(?:bump|pin|unpin)\w*\s|[\w./@-]{{2,40}}\s?[=<>]=\s?[\d.]+"
    rf"|(?:update|upgrade|updated|upgraded|updating|upgrading)\s(?:\w+[\s-]){{0,3}}(?:dependenc\w+|deps"
    rf"|requirements|lock ?files?|submodules?|pre-commit|vendored?|packages|crates|hooks)\b)",
    re.IGNORECASE,
)
_MERGE = re.compile(
    r"(?:auto[- ]?)?(?:merge|merged|merging)\b|forward[- ]?port"
    r"|updat\w+ (?:the )?(?:\w+ )?(?:branch )?(?:with|from)"
    r" (?:master|main|upstream|develop|base|trunk)\b|sync\w* (?:with|from|to)\b|push(?:ed)? (?:branch|to)\b",
    re.IGNORECASE,
)
_REVERT = re.compile(
    rf"{_BRACKETS}[\"'“]*(?:(?:partial(?:ly)? |temporarily )?revert\w*\b|back(?:ed|ing|s)?[ -]?out\b"
    rf"|undo\w*\b|undid\b|un-?revert|re-?apply|reapplied|re-?land\w*|roll(?:ed"
    rf"|ing)?[ -]?back\b(?! \w+ (?:when|if|on)))"
    r"|this reverts commit",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"\W*(?:wip|work in progress|do not merge|dnm|(?:fixup|squash|amend)!?|follow[- ]?up)\b"
    r"|\W*(?:draft|tmp|temp|checkpoint|save|snapshot|rebase|another|(?:an? |first |second "
    r"|new )?attempt)\s?(?:$|[:!-]|to |at )"
    r"|.*(?:\bwip\b|[\[(](?:wip|draft|dnm|poc)[\])]|\bdo not merge\b|\bwork in progress\b)",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"\W*(?:\w{2,20}:\s+)?(?:(?:minor|small|tiny|quick|more|some|misc\w*|various|further|additional|other"
    r"|little|trivial"
    r"|random|few|assorted)\b.{0,15}\b"
    r"(?:fix\w*|change\w*|cleanup\w*|clean-?ups?|tweak\w*|update\w*|improvement\w*|edit\w*|adjustment\w*"
    r"|typos?|test\w*|thing\w*|stuff|refactor\w*|nits?|correction\w*|docs|polish)"
    r"|(?:fix\w*|correct\w*|address\w*|resolve\w*|appl\w+|incorporate\w*|respond\w*|handle\w*|process"
    r"|implement)?\s*(?:the |to |from |all |some |more |your |\w+'s? )*(?:code )?(?:pr |review\w*"
    r"|feedback|suggest\w+|nit(?:s|picks?)?)"
    r"(?:\s(?:comments?|feedback|suggestions?|remarks|changes?|fixes|issues?|notes|points|from.*|by.*))*"
    r"|(?:fix\w*|correct\w*|silence|satisfy|appease|pacify|please)\s+(?:(?:the|a|some|more|few|all"
    r"|pre-?commit|failing|broken|flaky|remaining|new|up|minor|small)\s+){0,2}"
    r"(?:lint\w*|typos?|ci|builds?|tests?|flake8?|mypy|ruff|pylint|pep-?8|format\w*|style|spelling"
    r"|warnings?|errors?|bugs?|issues?|merge|conflicts?|indent\w*|whitespace|docs?|imports?|grammar"
    r"|travis|appveyor|pipelines?|snapshots?|types?|compilation|types|links?|doctests?|coverage)"
    r"(?:,? (?:and|&|\+) (?:the )?(?:lint\w*|typos?|ci|tests?|docs?|style|spelling|warnings?|format\w*|mypy))?"
    r"|(?:update|updates|updated|changes|cleanup|clean up|cleaned up|refactor\w*|improvements?|tweaks?"
    r"|polish|simplif\w+|improve|typos?|formatting|whitespace|spelling|lint\w*|docs|test|tests|testing"
    r"|oops|misc|todo)(?:\s\w+)?"
    r"|(?:more|further|some|various|minor|small|misc\w*)\s(?:fixes|changes|cleanups?|tweaks|updates|improvements|edits)"
    r"\s(?:for|in|to|on|of|around)\s[\w./-]+"
    r"|(?:fix\w*|correct\w*)\s(?:(?:a|the|some|more|few|small|minor|several|various)\s)*(?:typos?|spelling"
    r"|grammar)(?:\s(?:in|of|on|at|for)\s.{1,60}|:.*)?"
    r"|commit(?:ted|s)?\s(?:the )?missing\b.*)\W*",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"(?<![\w/.\-'])(?:I|I'm|I've|I'd|I'll)(?![\w/.\-)]|\s?[/&])(?!\))|(?<![\w/.\-])(?i:we|we're|we've"
    r"|we'll|my|myself|our|ours|me|let's)(?![\w/.\-])"
)
_JOKE = re.compile(
    r"\b(?:lol|rofl|whoops|woops|oops\w*|yay|hooray|d'?oh|argh+|ugh+|meh|haha+|moar|goo|wtf|omg|sigh|phew|ahem"
    r"|hurrah|woohoo|voila|facepalm|yolo|"
    r"hopefully|hoping|apparently|obviously|silly|sneaky|magic(?:al)?ly|nuke|kill all|pesky|annoying|yak"
    r"|bikeshed\w*|because why not|once and for all|like a boss)\b",
    re.IGNORECASE,
)
_LOUD = re.compile(
    r"(?<=[A-Za-z\s)])!+(?=\s|$)|(?<![\w.`'\"(])\.\.\.$|(?<=[A-Za-z]\s)\.\.\.(?=\s)|[A-Za-z]\.\.\.(?=\s"
    r"|$)|…(?=\s|$)|\?$|[:;]-?[)(D](?=\s|$)"
)
_WORKING_TALK = re.compile(
    r"^(?:work(?:ing)?|start(?:ed|ing)?(?: work(?:ing)?)?|continu\w+|keep working) on\b"
    r"|^finish\w*\b|^th(?:is|ese)\b|^clean(?:ed|ing"
    r"|s)?[ -]?up\b|\b(?:again|finally(?! (?:block|clause|statement|branch))|tr(?:y|ies|ying|ied) (?:to"
    r"|and|out|with)"
    r"|get(?:ting)? (?:ci|tests?|the build|the tests?|things|it|everything|travis"
    r"|the ci) (?:to )?(?:pass\w*|work\w*|green|going)|"
    r"make (?:ci|tests?|the build|the tests?|travis|mypy|clippy|linters?|the linter|ruff|flake8?|lint"
    r"|pylint|rustfmt|eslint|codespell|pyright) (?:pass|happy|happier|green|work)|"
    r"clippy|rustfmt|cargo fmt|gofmt|regen\w*|re-?generate\w*|sitemap|for now|hack(?:s|y|ish)?|quick ?fix"
    r"|this time|one more|another attempt|debug(?:ging)? ci|test commit|trigger ci|kick ci|bump ci"
    r"|empty commit|"
    r"actually|leftovers?|forgot\w*|nitpicks?|nits?|pr comments?|rebased?|first (?:pass|cut|stab|draft"
    r"|try|commit|step)|initial (?:commit|draft|import|version|cut|pass)|almost (?:done|there|working)"
    r"|not (?:yet )?working|still (?:missing|needs?|broken|wip|not)|see (?:below|above)"
    r"|(?:previous|last|earlier|prior) (?:pr|commit|patch|merge)|part of an?"
    r"|some more|stuff|as requested|left to do|address\w* (?:comments?|feedback"
    r"|review)|"
    r"(?:review|pr) (?:comments?|feedback)|fix(?:es|ed|ing)? (?:the )?(?:ci|build|lint\w*|tests?|flake8"
    r"|mypy|pre-?commit|travis|appveyor)(?: \w+)?$|todos?|cosmetics?|oversight|after (?:rebase|merge"
    r"|review))\b",
    re.IGNORECASE,
)
_MOVED = re.compile(
    rf"{_BRACKETS}(?:(?:mov(?:e|es|ed|ing)|renam(?:e|es|ed|ing)|relocat\w+|reorgani[sz]\w+|reorder\w*"
    rf"|re-?generat\w+|sort(?:s|ed)?|re-?arrang\w+|split (?:out|up)|reformat\w*|re-?indent\w*|extract(?:s"
    rf"|ed)?|copy)\b(?!.*\b(?:add|adds|support|allow|implement|fix|fixes|introduc\w+)\b))",
    re.IGNORECASE,
)
_FORMATTING = re.compile(
    rf"{_BRACKETS}(?:(?:run|apply|appl\w+|use|re-?run|ran|blacken\w*|add)?\s*(?:the )?(?:black|isort|ruff"
    rf"|prettier|yapf|autopep8|pyupgrade|clang-format|autoflake|gofmt|gofumpt|eslint|rubocop|scalafmt"
    rf"|biome|codespell)(?:\s(?:format\w*|fix\w*|on|over|everywhere|style|changes|--\S+|autofix\w*|to all"
    rf"|all)\b.*|\W*$)"
    r"|(?:code |re)?format(?:ted|ting|s)?(?: (?:code|with|using|all|files?|everything|source|python"
    r"|the code|markdown|imports)\b.*|\W*$)|(?:sort|clean ?up|remove|organi[sz]e|tidy"
    r"|optimi[sz]e)\w*\s(?:the )?(?:unused |duplicate |redundant |unnecessary "
    r"|extra )?imports?\b(?! \w+ (?:when|if|from))|(?:code|coding) ?style|pep-?8|(?:fix|remove|trim"
    r"|strip)\w*\s(?:\w+\s)?(?:trailing white-?spaces?|white-?spaces?\W*$))",
    re.IGNORECASE,
)
_MACHINE = re.compile(
    r"(?:small |minor )?(?:updates?|changes?|fix\w*|improve\w*|edit\w*|tweak\w*)\s(?:\w+\s){0,2}readme(?:\.\w+)?\W*$|"
    r"\W*(?:update|create|delete|rename|add)\s[\w./-]{1,80}\.(?:md|rst|txt|py|js|ts|tsx|jsx|go|rs|java|c"
    r"|h|cpp|html|css|scss|json|ya?ml|toml|lock|cfg|ini|sh|rb|php|svg|png|gitignore|ipynb|xml|mdx|vue|kt"
    r"|cs)(?: and [\w./-]+| to [\w./-]+)?\W*$"
    r"|.*\.(?:gitignore|gitattributes|editorconfig|mailmap|pre-commit-config|npmignore|dockerignore"
    r"|prettierrc|eslintrc)\b|.*\bauto-?generated files\b|add files via upload|initial commit"
    r"|apply suggestions? from code review|\[pre-commit\.ci\]"
    r"|.*\bfirst contribution\b|squashed commit of|(?:.*\b)?add '[\w./-]+' from commit\b"
    r"|(?:feat|feature|(?:bug|hot)[ -]?fix|fix|chore|docs?|refactor|dev|issue|patch)/[a-z0-9]"
    r"|translated using weblate|update translation|automat(?:ic|ed|ically) (?:update|commit|fix|merge"
    r"|format|sync|release)\w*|auto-?(?:generated|update|commit|fix\w*|merge|format)|\[?(?:bot|automated"
    r"|auto)\]|imported? from|commit [0-9a-f]{7,}|translat(?:ions?|ed) update|new translations"
    r"|update (?:from )?(?:crowdin|transifex|weblate|pontoon)|\[?skip ci\]?$|deploy(?:ed|s"
    r"|ing)? (?:to )?[0-9a-f]*\W*$|publish(?:ed|ing)? [\w.-]+\W*$"
    r"|.*\b(?:update|updates|add|adds|bump)\b.*\b(?:contributors|sponsors|backers|all-contributors"
    r"|sitemap|authors(?: file)?|codeowners|people)\b",
    re.IGNORECASE,
)
_CHANGELOG_WORK = re.compile(
    rf"{_BRACKETS}(?:(?:add|update|fix|edit|tweak|amend|write|draft|improve|clean|polish|tidy|correct"
    rf"|adjust)\w*(?: up)?\s(?:\w+\s){{0,4}})?(?:change-?log|change log|news(?: ?fragments?| ?files?"
    rf"| entry| entries)?|release[- ]?notes?|history(?:\.\w+)|whatsnew|what's new|changes\.\w+"
    rf"|towncrier fragments?|changesets?|contributors?|authors)(?:\s(?:for|entry|entries|update|updates|to"
    rf"|of|fix\w*|and|in)\b.*|\W*$)",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"\w+@[0-9a-f]{7,40}\b|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SECRET = re.compile(
    r"(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|AKIA|ASIA|AIza|eyJ)[\w-]{8,}|-----BEGIN"
    r"|\b(?=[A-Za-z0-9+/_-]{0,60}\d)(?=[A-Za-z0-9+/_-]{0,60}[a-z])(?=[A-Za-z0-9+/_-]{0,60}[A-Z])[A-Za-z0-9+/]{"
    r"32,}={0,2}"
    r"|\b(?:password|passwd|secret|token|api[_-]?key)\s?[=:]\s?\S{6,}"
)
_INSULT = re.compile(
    r"\b(?:stupid\w*|dumb|idiot\w*|moron\w*|crap\w*|shit\w*|bullshit|fuck\w*|fck|damn\w*|goddamn|hell"
    r"|suck(?:s|ed|ing)?|ass|asshole|bastard|bitch|lame|retarded|brain-?dead|insane|ridiculous|horrible"
    r"|awful|terrible|ugly|garbage code|moronic|screw(?:ed|s)?|pile of)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"``[^`]{1,200}``|`[^`]{1,200}`|\w+::\w+!|\bt?o?do!")
_LEANING = re.compile(
    r"(?:[\w./-]{1,30}:\s+)?(?:the )?(?:same (?:for|as|goes|here|applies|thing|with|but|change|fix|treatment|again)\b"
    r"|also\b|ditto\b|idem\b|likewise\b|similarly\b|additionally\b|furthermore\b|moreover\b|in addition\b(?! to)"
    r"|(?:as|see|like) (?:above|below|before|previously)\b|as (?:already )?(?:mentioned|noted|described)\b)",
    re.IGNORECASE,
)
LOUD, SHORT = "an exclamation, a question or dots", "one or two words"
_WORD = re.compile(r"[^\W\d_][\w'’.:/+-]*")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def _is_short(text: str) -> bool:
    """One or two words, or numbers only; a script without blanks is counted by its characters."""
    return len(_WORD.findall(text.removesuffix("…"))) < 3 and len(_WIDE.findall(text)) < 6


_RULES: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("a release or a version bump", _RELEASE.match),
    ("a dependency update", _DEPENDENCY.match),
    ("a merge", _MERGE.match),
    ("a revert", _REVERT.match),
    ("unfinished work", _UNFINISHED.match),
    ("no statement", _BARE.fullmatch),
    ("first person", _FIRST_PERSON.search),
    ("a joke", _JOKE.search),
    ("working talk", _WORKING_TALK.search),
    ("a move, a rename or a regeneration", _MOVED.match),
    ("a text that leans on its neighbour", _LEANING.match),
    ("formatting or imports", _FORMATTING.match),
    ("machine-written", _MACHINE.match),
    ("work on the changelog", _CHANGELOG_WORK.match),
    ("an e-mail address", _EMAIL.search),
    ("the shape of a secret", _SECRET.search),
    ("an insult", _INSULT.search),
)
REASONS: tuple[str, ...] = (*(name for name, _ in _RULES), LOUD, SHORT)


@lru_cache(maxsize=1 << 14)
def _reason(text: str) -> str | None:
    return next((name for name, holds in _RULES if holds(text)), None)


def reason_not_to_quote(raw: str, text: str) -> str | None:
    """Why this text is only counted; None if it may be quoted. `raw` is the text before it was cleaned."""
    if _is_short(text):
        return SHORT
    subject = raw.split("\n", 1)[0][:400].strip()
    return _loud(subject) or _first(map(_reason, (subject, text.removesuffix("…"))))


def _loud(raw: str) -> str | None:
    """Signs count before markup is taken off: `select!` in code is a name."""
    return LOUD if _LOUD.search(first_sentence(_CODE.sub("code", raw))) else None


def _first(found: Iterable[str | None]) -> str | None:
    return next((one for one in found if one is not None), None)


def is_about_release(title: str) -> bool:
    """Whether a change only makes a release or writes the changelog, so that what it adds there tells of others."""
    return bool(_RELEASE.match(title) or _CHANGELOG_WORK.match(title) or _MERGE.match(title))
