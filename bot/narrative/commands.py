"""What does a comment ask of Almanac: which commands, word for word, and what was meant where a word is wrong?

A command is a whole line that begins with `/almanac`. Lines that a reader sees as quoted, as code or not at all are
nobody's command.
"""

from __future__ import annotations

import hashlib
from difflib import get_close_matches
from typing import Literal

from msgspec import Struct

from bot.narrative.comment_lines import comment_lines
from bot.narrative.explanation import names

PREFIX = "/almanac"
MOST = 5
"""commands of one comment that are read"""
LONGEST_REASON = 500
"""characters of a dispute"""

Name = Literal[
    "me",
    "why",
    "classify",
    "accept",
    "reject",
    "human",
    "dispute",
    "anonymise",
    "public",
    "opt-out",
    "forget-me",
    "recount",
    "digest preview",
    "pause",
]


class Command(Struct, frozen=True):
    """One command. `value` is what stands after its name: `feature`, `on`, `12`, a reason; empty where nothing does."""

    name: Name
    value: str = ""


class Mistake(Struct, frozen=True):
    """A line that is no command: what it says (as written, to be escaped by whoever shows it), and what may help."""

    said: str
    hint: str


class CommandForm(Struct, frozen=True):
    """How a command is written. `values` are the words that may follow, `takes` what else may."""

    name: Name
    takes: Literal["nothing", "word", "number", "text"] = "nothing"
    values: tuple[str, ...] = ()
    maintainers: bool = False

    @property
    def usage(self) -> str:
        """`classify feature|fix|other`."""
        after = {"nothing": "", "word": "|".join(self.values), "number": "NUMBER", "text": "TEXT"}[self.takes]
        return f"{self.name} {after}".strip()


COMMAND_FORMS: tuple[CommandForm, ...] = (
    CommandForm("me"),
    CommandForm("why", "number"),
    CommandForm("classify", "word", ("feature", "fix", "other")),
    CommandForm("accept"),
    CommandForm("reject"),
    CommandForm("human"),
    CommandForm("dispute", "text"),
    CommandForm("anonymise"),
    CommandForm("public", "word", ("on", "off")),
    CommandForm("opt-out"),
    CommandForm("forget-me"),
    CommandForm("recount", maintainers=True),
    CommandForm("digest preview", maintainers=True),
    CommandForm("pause", maintainers=True),
)
_BY_NAME = {form.name: form for form in COMMAND_FORMS}
_SAME = {
    "anonymize": "anonymise",
    "optout": "opt-out",
    "forgetme": "forget-me",
    "forget": "forget-me",
    "digest": "digest preview",
}


def read_commands(body: str) -> tuple[Command | Mistake, ...]:
    """The commands of a comment in their order, at most five; a line with a mistake stands among them."""
    return tuple(_read(line.removeprefix(PREFIX).strip()) for line in _command_lines(body))


def commands_mark(body: str) -> str:
    """Equal for comments that ask the same, word for word. Whoever may write to a repository may edit what others
    wrote there, so what is read later is compared with what its writer sent."""
    return hashlib.sha256("\n".join(_command_lines(body)).encode("utf-8", "replace")).hexdigest()[:16]


def _command_lines(body: str) -> list[str]:
    return [line for line in comment_lines(body) if line == PREFIX or line.startswith(PREFIX + " ")][:MOST]


def _read(line: str) -> Command | Mistake:
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word == "digest" and rest.partition(" ")[0] == "preview":
        word, rest = "digest preview", rest.removeprefix("preview").strip()
    form = next((form for form in COMMAND_FORMS if form.name == word), None)
    if form is None:
        return Mistake(line[:80], _suggestion(line))
    return _with_value(form, line, rest)


def _with_value(form: CommandForm, line: str, rest: str) -> Command | Mistake:
    if form.takes == "nothing":
        return Mistake(line[:80], f"{form.name} takes nothing after it") if rest else Command(form.name)
    if form.takes == "text":
        return Command(form.name, rest[:LONGEST_REASON]) if rest else Mistake(line[:80], f"write {form.usage}")
    if form.takes == "word":
        return Command(form.name, rest) if rest in form.values else Mistake(line[:80], _nearest_value(form, rest))
    if rest in names() or _is_number(rest):
        return Command(form.name, rest)
    listed = ", ".join(names())
    return Mistake(line[:80], f"NUMBER is that of a pull request, as in why 12, or one of {listed}")


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= 10 and word[0] != "0"


def _nearest_value(form: CommandForm, word: str) -> str:
    found = get_close_matches(word[:40].lower(), form.values, n=1, cutoff=0.5)
    return f"did you mean {form.name} {found[0]}?" if found else f"write {form.usage}"


def _suggestion(line: str) -> str:
    """The nearest command to what was said, else all of them."""
    words = line.lower().split()[:2]
    known = [*_BY_NAME, *_SAME]
    for tried in (" ".join(words), "-".join(words), *words[:1]):
        found = get_close_matches(tried[:40], known, n=1, cutoff=0.6)
        if found:
            return f"did you mean {_usage(_SAME.get(found[0], found[0]))}?"
    return "commands are " + ", ".join(form.usage for form in COMMAND_FORMS)


def _usage(name: str) -> str:
    return next(form.usage for form in COMMAND_FORMS if form.name == name)
