"""Which pull request does a merge commit's message prove?

Each reader handles one wording; the table in `bot.landing.conventions` lists them.
"""

from __future__ import annotations

from datetime import UTC, datetime

from bot.landing.addresses import login_of, plain_email
from bot.landing.machines import LANDING_BOTS, is_bot, is_landing_bot, is_web_flow
from bot.landing.reading import NO_FINDING, Finding, Reading, leading_number, number_at_end

_BUTTON_SINCE = datetime(2016, 4, 1, tzinfo=UTC)
_BY_GITHUB_SINCE = datetime(2020, 3, 1, tzinfo=UTC)
"""in thirteen histories, some 20,200 commits of the earlier form came before this date and 3 after"""
_PROW = frozenset(bot for bot in LANDING_BOTS if "bors" not in bot and "queue" not in bot)


def merge_button(reading: Reading) -> Finding | None:
    """`Merge pull request #12 from owner/branch`, with the title in the body."""
    found = _numbered(reading.carrier_subject, "Merge pull request #")
    if found is None or " from " not in found[1]:
        return None
    return Finding(pull_request=found[0], title=reading.carrier_body() or None)


def numbered_merge(subject: str) -> int | None:
    """The pull request that the subject of a merge commit proves, whichever bot or button made it."""
    found = _numbered(subject, "Merge pull request #")
    if found is not None:
        return found[0] if " from " in found[1] else None
    for beginning in ("Rollup merge of #", "Auto merge of #", "auto merge of #"):
        if (found := _numbered(subject, beginning)) is not None:
            return found[0]
    numbers = batch_numbers(subject)
    return numbers[0] if len(numbers) == 1 else None


def nested(reading: Reading) -> Finding | None:
    """A merge of one pull request within the merged branch; a merge made in somebody's fork proves nothing."""
    number = reading.landing.brought_by
    if not number or _from_elsewhere(reading) or _pulled_from_elsewhere(reading):
        return None
    several = len(batch_numbers(reading.carrier_subject)) > 1 or is_roll_up(reading.landing.carrier.message)
    return None if several else Finding(pull_request=number)


def _pulled_from_elsewhere(reading: Reading) -> bool:
    """`Merge branch 'x' of https://github.com/somebody/else`."""
    address = reading.carrier_subject.partition("github.com")[2][1:]
    owner = address.partition("/")[0].lower()
    return bool(owner) and owner != reading.repository.partition("/")[0].lower()


def prow_tide(reading: Reading) -> Finding | None:
    """The merge button's wording, written by a Prow bot."""
    return merge_button(reading) if login_of(reading.landing.carrier.author) in _PROW else None


def merge_queue(reading: Reading) -> Finding | None:
    """The merge button's wording, or a title with `(#12)`, written by GitHub's merge queue."""
    author = login_of(reading.landing.carrier.author) or ""
    if not author.startswith("github-merge-queue"):
        return None
    return merge_button(reading) or _titled(reading)


def titled_merge(reading: Reading) -> Finding | None:
    """A merge commit made by GitHub with the pull request's title and number as its subject."""
    return _titled(reading) if is_web_flow(reading.landing.carrier.committer) else None


def _titled(reading: Reading) -> Finding | None:
    found = number_at_end(reading.carrier_subject)
    return Finding(pull_request=found[0], title=found[1] or None) if found else None


def homu(reading: Reading) -> Finding | None:
    """`Auto merge of #12 - user:branch, r=reviewer`; a roll-up lists the pull requests it merged."""
    subject = reading.carrier_subject
    found = _numbered(subject, "Auto merge of #") or _numbered(subject, "auto merge of #")
    if found is None:
        return None
    parts = _rolled_up(reading)
    if parts or reading.landing.brought_by:
        return _the_one(parts, reading)
    return Finding(pull_request=found[0], title=reading.carrier_body() or None)


def _rolled_up(reading: Reading) -> list[tuple[int, str, str]]:
    """(number, title, "") of each line ` - #12 (title)` of a roll-up."""
    found = []
    for line in reading.carrier_lines[1:]:
        text = line.strip()
        number = leading_number(text[3:]) if text.startswith("- #") else None
        if number is not None:
            found.append((number, text.partition("(")[2].removesuffix(")").strip(), ""))
    return found if "ollup" in reading.carrier_body()[:40] else []


def bors_ng(reading: Reading) -> Finding | None:
    """`Merge #12` or `Merge #12 #13`, with a line `12: Title r=reviewer a=author` for each."""
    numbers = batch_numbers(reading.carrier_subject)
    if not numbers:
        return None
    parts = [part for line in reading.carrier_lines[1:] if (part := _bors_line(line)) and part[0] in numbers]
    if len(numbers) == 1:
        return Finding(pull_request=numbers[0], title=parts[0][1] if parts else None)
    return _the_one(parts, reading)


def batch_numbers(subject: str) -> tuple[int, ...]:
    """The pull requests of bors-ng's `Merge #12 #13`, in the order of the merge commit's additional parents."""
    words = subject.split()
    if words[:1] != ["Merge"] or not all(word.startswith("#") for word in words[1:]):
        return ()
    numbers = [number for word in words[1:] if (number := leading_number(word[1:])) is not None]
    return tuple(numbers) if len(numbers) == len(words) - 1 else ()


def rolled_up_number(subject: str) -> int | None:
    """The pull request of a merge commit within a roll-up, `Rollup merge of #12 - user:branch, r=reviewer`."""
    found = _numbered(subject, "Rollup merge of #")
    return found[0] if found else None


def is_roll_up(message: str) -> bool:
    """Whether homu's merge commit brings several pull requests, each merged within it."""
    return message.startswith(("Auto merge of #", "auto merge of #")) and "ollup" in message[:400]


def _bors_line(line: str) -> tuple[int, str, str] | None:
    digits, colon, rest = line.partition(": ")
    number = leading_number(digits) if colon and digits.isdecimal() else None
    if number is None:
        return None
    rest, _, author = rest.rpartition(" a=")
    return number, rest.rpartition(" r=")[0].strip() or rest.strip(), author.strip().lower()


def _the_one(parts: list[tuple[int, str, str]], reading: Reading) -> Finding:
    """Which of several pull requests merged at once brought this commit; an empty finding where that is unclear.

    The shape of the history decides where it was read, then the title, then the author.
    """
    if number := reading.landing.brought_by:
        return Finding(pull_request=number, title=next((part[1] for part in parts if part[0] == number), None) or None)
    login = login_of(reading.landing.commit.author)
    by_title = [part for part in parts if part[1] and part[1].lower() == reading.subject.lower()]
    by_author = [part for part in parts if part[2] and part[2] == login]
    chosen = by_title or by_author
    if len(chosen) != 1:
        return Finding()
    return Finding(pull_request=chosen[0][0], title=chosen[0][1] or None)


def gitlab(reading: Reading) -> Finding | None:
    """`Merge branch 'x' into 'main'` with `See merge request group/name!12`."""
    for line in reading.carrier_lines[1:]:
        path, mark, digits = line.removeprefix("See merge request ").partition("!")
        if mark and line.startswith("See merge request ") and digits.isdecimal():
            return Finding(keys=(f"mr:{path.lower()}!{digits}",), title=reading.carrier_body() or None)
    return None


def merge(reading: Reading) -> Finding | None:
    """Any other merge commit: it proves nothing."""
    return NO_FINDING if reading.merged else None


def _numbered(subject: str, beginning: str) -> tuple[int, str] | None:
    if not subject.startswith(beginning):
        return None
    rest = subject[len(beginning) :]
    number = leading_number(rest)
    return (number, rest) if number is not None else None


def landing_bot_commit(reading: Reading) -> Finding | None:
    """`Title (#12)`, committed by a bot that lands this repository's pull requests."""
    commit = reading.landing.commit
    if not is_landing_bot(commit.committer, reading.settings.bots):
        return None
    found = number_at_end(reading.subject)
    return Finding(pull_request=found[0], title=found[1] or None) if found else NO_FINDING


def squash_button(reading: Reading) -> Finding | None:
    """`Title (#12)`, committed by GitHub itself.

    Inside a merge from somebody's fork the number may be the fork's own, so only the merge's number counts there.
    """
    if not is_web_flow(reading.landing.commit.committer):
        return None
    found = number_at_end(reading.subject)
    if found is None or (reading.merged and _from_elsewhere(reading)):
        return None
    return Finding(pull_request=found[0], title=found[1] or None)


def early_squash_button(reading: Reading) -> Finding | None:
    """`Title (#12)`, as the button committed it until February 2020: in the name of the person who pressed it.

    Author and committer differ, but their times are equal to the second; no rebase or cherry-pick does that.
    """
    found = number_at_end(reading.subject)
    if found is None:
        return None
    commit = reading.landing.commit
    pressed = commit.authored_at == commit.committed_at and _BUTTON_SINCE <= commit.committed_at < _BY_GITHUB_SINCE
    if not pressed or plain_email(commit.author.email) == plain_email(commit.committer.email):
        return None
    if is_bot(commit.committer) or (reading.merged and _from_elsewhere(reading)):
        return None
    return Finding(pull_request=found[0], title=found[1] or None)


def _from_elsewhere(reading: Reading) -> bool:
    head = reading.carrier_subject.partition(" from ")[2]
    owner = head.replace(":", "/", 1).partition("/")[0]
    return bool(merge_button(reading)) and owner.lower() != reading.repository.partition("/")[0].lower()
