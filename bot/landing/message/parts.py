"""What does a landing's message say, split into the parts that conventions need?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct

from bot.landing.message.lines import Message, read_message
from bot.landing.message.trailers import trailer_lines
from bot.model.commit import Landing


class LandingSettings(Struct, frozen=True):
    """A repository's own configuration: logins or e-mails of landing bots, and trailers that name a pull request
    (`Landed-PR`, whose value ends in a number or an address).
    """

    bots: tuple[str, ...] = ()
    trailers: tuple[str, ...] = ()


DEFAULT = LandingSettings()
IMPORTED_HISTORY = 0
"""the value of `Landing.brought_by` in the imported history of another repository"""
OTHER_NUMBERS = -1
"""its value where the numbers in the message, and in that of the merge, are those of another repository"""
TRAILERS = frozenset(
    (
        "change-id",
        "differential revision",
        "differential-revision",
        "fbshipit-source-id",
        "ghstack-source-id",
        "git-svn-id",
        "github-pull-request",
        "gitorigin-revid",
        "link",
        "original commit changeset",
        "original phabricator diff",
        "piperorigin-revid",
        "pull request resolved",
        "pull-request",
        "pull-request-resolved",
        "reviewed-on",
        "x-link",
    )
)
"""the trailer keys, in lower case, that conventions use; configuration may add more"""
_NO_TRAILERS: Mapping[str, list[str]] = MappingProxyType({})
_NO_TITLES = ("piperorigin-revid:", "gitorigin-revid:", "copybara_", "change-id:", "signed-off-by:", "co-authored-by:")


class MessageFinding(NamedTuple):
    """What one convention proves about one landing."""

    pull_request: int | None = None
    keys: tuple[str, ...] = ()
    reverts: tuple[str, ...] = ()
    relands: tuple[str, ...] = ()
    title: str | None = None


NO_FINDING = MessageFinding()
"""it landed this way, which proves nothing"""


class LandingReading(NamedTuple):
    """A landing with its messages split once."""

    landing: Landing
    settings: LandingSettings
    message: Message
    subject: str
    lines: Sequence[str]
    trailers: Mapping[str, list[str]]
    """values of every line that starts like a trailer, by key in lower case; empty if no convention needs one"""
    merge_commit: Message
    merge_subject: str
    merge_lines: Sequence[str]
    """empty, like the subject, if no merge commit brought it"""
    merged: bool
    """whether a merge commit brought it"""

    @classmethod
    def of(cls, landing: Landing, settings: LandingSettings = DEFAULT) -> LandingReading:
        message = read_message(landing.commit.message)
        subject, lines = _without_blank_start(message.lines)
        trailers = _by_key(lines) if settings.trailers or not TRAILERS.isdisjoint(message.keys) else _NO_TRAILERS
        if landing.merge_commit is landing.commit or landing.merge_commit.id == landing.commit.id:
            return cls(landing, settings, message, subject, lines, trailers, message, "", (), False)
        merge_commit = read_message(landing.merge_commit.message)
        merge_subject, merge_lines = _without_blank_start(merge_commit.lines)
        return cls(landing, settings, message, subject, lines, trailers, merge_commit, merge_subject, merge_lines, True)

    @property
    def repository(self) -> str:
        return self.landing.repository.full_name

    @property
    def host(self) -> str:
        return self.landing.repository.host

    @property
    def is_imported_history(self) -> bool:
        """Whether it is imported history: the numbers in its messages are the other repository's."""
        return self.landing.brought_by in (IMPORTED_HISTORY, OTHER_NUMBERS)

    @property
    def has_other_numbers(self) -> bool:
        """Whether the number in the message of the merge that brought it is another repository's too."""
        return self.landing.brought_by == OTHER_NUMBERS

    @property
    def inner_number(self) -> int | None:
        """The pull request of the branch, among those that one merge brought, that had the commit."""
        number = self.landing.brought_by
        return number if number is not None and number > 0 else None

    def only_value(self, key: str) -> str | None:
        """The value of a trailer that occurs with only one value; a roll-up with several refers to other work."""
        values_given = self.trailers.get(key)
        if not values_given:
            return None
        values = set(values_given)
        return next(iter(values)) if len(values) == 1 else None

    def merge_body(self) -> str:
        """First line of the merge commit's body, usually the pull request's title; empty if it is a trailer."""
        line = next((line.strip() for line in self.merge_lines[1:] if line.strip()), "")
        return "" if line.lower().startswith(_NO_TITLES) else line


def _by_key(lines: Sequence[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in trailer_lines(lines):
        found.setdefault(key.lower(), []).append(value)
    return found


def _without_blank_start(lines: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The subject, and the lines from the subject on."""
    if lines and (subject := lines[0].strip()):
        return subject, lines
    start = next((number for number, line in enumerate(lines) if line.strip()), 0)
    lines = lines[start:] or [""]
    return lines[0].strip(), lines


@lru_cache(maxsize=256)
def number_at_end(subject: str) -> tuple[int, str] | None:
    """(N, the rest) of a subject that ends in `(#N)`."""
    if not subject.endswith(")"):
        return None
    at = subject.rfind("(#")
    digits = subject[at + 2 : -1]
    if at < 0 or not digits.isascii() or not digits.isdecimal() or len(digits) > 9:
        return None
    return int(digits), subject[:at].rstrip()


def pull_address(text: str, host: str) -> tuple[str, int] | None:
    """(owner/name, N) of the first address of a pull request on this server in the text."""
    start = f"://{host}/"
    at = text.find(start)
    if at < 0:
        return None
    parts = text[at + len(start) :].split(maxsplit=1)[:1]
    path = parts[0].split("/") if parts else []
    if len(path) < 4 or path[2] not in ("pull", "pulls"):
        return None
    number = leading_number(path[3])
    return (f"{path[0]}/{path[1]}", number) if number else None


def pull_reference(text: str, repository: str, host: str) -> tuple[str, int] | None:
    """(owner/name, N) of `#N`, `owner/name#N` or an address at the start of the text; `#N` refers to `repository`."""
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    if "://" in word:
        return pull_address(word, host)
    name, mark, digits = word.strip("()[],.;:").partition("#")
    number = leading_number(digits) if mark else None
    if not number or (name and name.count("/") != 1):
        return None
    return (name or repository), number


def leading_number(text: str) -> int | None:
    """The digits a text starts with; None if there are none, more than nine, or a letter right after them."""
    end = next((at for at, letter in enumerate(text[:12]) if letter not in "0123456789"), len(text[:12]))
    if not 0 < end <= 9 or (text[end : end + 1].isalpha()):
        return None
    return int(text[:end])


def same_repository(one: str, other: str) -> bool:
    return one.lower() == other.lower()
