"""Which pull request does a merge commit's message prove?

Each reader handles one wording; the table in `bot.landing.conventions.catalogue` lists them.
"""

from __future__ import annotations

from datetime import UTC, datetime

from bot.landing.identity.addresses import login_of, plain_email
from bot.landing.identity.machines import is_landing_bot, is_machine, is_web_flow
from bot.landing.identity.registry import logins_of
from bot.landing.message.parts import NO_FINDING, LandingReading, MessageFinding, leading_number, number_at_end

_BUTTON_SINCE = datetime(2016, 4, 1, tzinfo=UTC)
_BY_GITHUB_SINCE = datetime(2020, 3, 1, tzinfo=UTC)
"""in thirteen histories, some 20,200 commits of the earlier form came before this date and 3 after"""


def merge_button(reading: LandingReading) -> MessageFinding | None:
    """`Merge pull request #12 from owner/branch`, with the title in the body."""
    found = _number_after(reading.merge_subject, "Merge pull request #")
    if found is None or " from " not in found[1]:
        return None
    return MessageFinding(pull_request=found[0], title=reading.merge_body() or None)


def numbered_merge(subject: str) -> int | None:
    """The pull request that the subject of a merge commit proves, whichever bot or button made it."""
    found = _number_after(subject, "Merge pull request #")
    if found is not None:
        return found[0] if " from " in found[1] else None
    for prefix in ("Rollup merge of #", "Auto merge of #", "auto merge of #"):
        if (found := _number_after(subject, prefix)) is not None:
            return found[0]
    numbers = batch_numbers(subject)
    return numbers[0] if len(numbers) == 1 else None


def nested_merge(reading: LandingReading) -> MessageFinding | None:
    """A merge of one pull request within the merged branch; a merge made in somebody's fork proves nothing."""
    number = reading.inner_number
    if not number or _is_from_fork(reading) or _is_pulled_from_fork(reading):
        return None
    several = len(batch_numbers(reading.merge_subject)) > 1 or is_roll_up(reading.landing.merge_commit.message)
    return None if several else MessageFinding(pull_request=number)


def _is_pulled_from_fork(reading: LandingReading) -> bool:
    """`Merge branch 'x' of https://github.com/somebody/else`."""
    address = reading.merge_subject.partition(reading.host)[2][1:]
    owner = address.partition("/")[0].lower()
    return bool(owner) and owner != reading.repository.partition("/")[0].lower()


def prow_tide(reading: LandingReading) -> MessageFinding | None:
    """The merge button's wording, written by a Prow bot."""
    login = login_of(reading.landing.merge_commit.author) or ""
    is_prow = login in logins_of("lander") and "bors" not in login and "queue" not in login
    return merge_button(reading) if is_prow else None


def merge_queue(reading: LandingReading) -> MessageFinding | None:
    """The merge button's wording, or a title with `(#12)`, written by GitHub's merge queue."""
    author = login_of(reading.landing.merge_commit.author) or ""
    if not author.startswith("github-merge-queue"):
        return None
    return merge_button(reading) or _titled_pull(reading)


def titled_merge(reading: LandingReading) -> MessageFinding | None:
    """A merge commit made by GitHub with the pull request's title and number as its subject."""
    return _titled_pull(reading) if is_web_flow(reading.landing.merge_commit.committer) else None


def _titled_pull(reading: LandingReading) -> MessageFinding | None:
    found = number_at_end(reading.merge_subject)
    return MessageFinding(pull_request=found[0], title=found[1] or None) if found else None


def homu(reading: LandingReading) -> MessageFinding | None:
    """`Auto merge of #12 - user:branch, r=reviewer`; a roll-up lists the pull requests it merged."""
    subject = reading.merge_subject
    found = _number_after(subject, "Auto merge of #") or _number_after(subject, "auto merge of #")
    if found is None:
        return None
    parts = _rolled_up_pulls(reading)
    if parts or reading.inner_number:
        return _matching_pull(parts, reading)
    return MessageFinding(pull_request=found[0], title=reading.merge_body() or None)


def _rolled_up_pulls(reading: LandingReading) -> list[tuple[int, str, str]]:
    """(number, title, "") of each line ` - #12 (title)` of a roll-up."""
    found = []
    for line in reading.merge_lines[1:]:
        text = line.strip()
        number = leading_number(text[3:]) if text.startswith("- #") else None
        if number is not None:
            found.append((number, text.partition("(")[2].removesuffix(")").strip(), ""))
    return found if "ollup" in reading.merge_body()[:40] else []


def bors_ng(reading: LandingReading) -> MessageFinding | None:
    """`Merge #12` or `Merge #12 #13`, with a line `12: Title r=reviewer a=author` for each."""
    numbers = batch_numbers(reading.merge_subject)
    if not numbers:
        return None
    parts = [part for line in reading.merge_lines[1:] if (part := _bors_line(line)) and part[0] in numbers]
    if len(numbers) == 1:
        return MessageFinding(pull_request=numbers[0], title=parts[0][1] if parts else None)
    return _matching_pull(parts, reading)


def batch_numbers(subject: str) -> tuple[int, ...]:
    """The pull requests of bors-ng's `Merge #12 #13`, in the order of the merge commit's additional parents."""
    words = subject.split()
    if words[:1] != ["Merge"] or not all(word.startswith("#") for word in words[1:]):
        return ()
    numbers = [number for word in words[1:] if (number := leading_number(word[1:])) is not None]
    return tuple(numbers) if len(numbers) == len(words) - 1 else ()


def rolled_up_number(subject: str) -> int | None:
    """The pull request of a merge commit within a roll-up, `Rollup merge of #12 - user:branch, r=reviewer`."""
    found = _number_after(subject, "Rollup merge of #")
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


def _matching_pull(parts: list[tuple[int, str, str]], reading: LandingReading) -> MessageFinding:
    """Which of several pull requests merged at once brought this commit; an empty finding where that is unclear.

    The shape of the history decides where it was read, then the title, then the author.
    """
    if number := reading.inner_number:
        return MessageFinding(
            pull_request=number, title=next((part[1] for part in parts if part[0] == number), None) or None
        )
    login = login_of(reading.landing.commit.author)
    by_title = [part for part in parts if part[1] and part[1].lower() == reading.subject.lower()]
    by_author = [part for part in parts if part[2] and part[2] == login]
    chosen = by_title or by_author
    if len(chosen) != 1:
        return MessageFinding()
    return MessageFinding(pull_request=chosen[0][0], title=chosen[0][1] or None)


def gitlab(reading: LandingReading) -> MessageFinding | None:
    """`Merge branch 'x' into 'main'` with `See merge request group/name!12`."""
    for line in reading.merge_lines[1:]:
        path, mark, digits = line.removeprefix("See merge request ").partition("!")
        if mark and line.startswith("See merge request ") and digits.isdecimal():
            return MessageFinding(keys=(f"mr:{path.lower()}!{digits}",), title=reading.merge_body() or None)
    return None


def plain_merge(reading: LandingReading) -> MessageFinding | None:
    """Any other merge commit: it proves nothing."""
    return NO_FINDING if reading.merged else None


def _number_after(subject: str, prefix: str) -> tuple[int, str] | None:
    if not subject.startswith(prefix):
        return None
    rest = subject[len(prefix) :]
    number = leading_number(rest)
    return (number, rest) if number is not None else None


def landing_bot_commit(reading: LandingReading) -> MessageFinding | None:
    """`Title (#12)`, committed by a bot that lands this repository's pull requests."""
    commit = reading.landing.commit
    if not is_landing_bot(commit.committer, reading.settings.bots):
        return None
    found = number_at_end(reading.subject)
    return MessageFinding(pull_request=found[0], title=found[1] or None) if found else NO_FINDING


def squash_button(reading: LandingReading) -> MessageFinding | None:
    """`Title (#12)`, committed by GitHub itself.

    Inside a merge from somebody's fork the number may be the fork's own, so only the merge's number counts there.
    """
    if not is_web_flow(reading.landing.commit.committer):
        return None
    found = number_at_end(reading.subject)
    if found is None or (reading.merged and _is_from_fork(reading)):
        return None
    return MessageFinding(pull_request=found[0], title=found[1] or None)


def early_squash_button(reading: LandingReading) -> MessageFinding | None:
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
    if is_machine(commit.committer) or (reading.merged and _is_from_fork(reading)):
        return None
    return MessageFinding(pull_request=found[0], title=found[1] or None)


def _is_from_fork(reading: LandingReading) -> bool:
    head = reading.merge_subject.partition(" from ")[2]
    owner = head.replace(":", "/", 1).partition("/")[0]
    return bool(merge_button(reading)) and owner.lower() != reading.repository.partition("/")[0].lower()
