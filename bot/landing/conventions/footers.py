"""Which identities and pull requests do the lines at the end of a message prove?

Each reader handles one tool; the table in `bot.landing.conventions.catalogue` lists them.
"""

from __future__ import annotations

import re

from bot.landing.message.parts import (
    LandingReading,
    MessageFinding,
    leading_number,
    number_at_end,
    pull_address,
    pull_reference,
    same_repository,
)
from bot.landing.message.trailers import trailer_lines
from bot.landing.reverts.targets import is_commit_id
from bot.landing.same_work.keys import PORT, pull_key, title_key

_RESOLVED = ("pull request resolved", "pull-request-resolved", "pull-request")
_PICKED = "(cherry picked from commit "


def resolved_pull(reading: LandingReading) -> MessageFinding | None:
    """`Pull Request resolved: <address>` in any of three forms; if a message has several, the last one counts."""
    if not any(key in reading.trailers for key in _RESOLVED):
        return None
    values = [value for key, value in trailer_lines(reading.lines) if key.lower() in _RESOLVED]
    found = [target for value in values if (target := pull_address(value, reading.host))]
    if not found:
        return None
    own = [number for name, number in found if same_repository(name, reading.repository)]
    return MessageFinding(own[-1]) if own else MessageFinding(keys=(pull_key(*found[-1]),))


def ghstack(reading: LandingReading) -> MessageFinding | None:
    source = reading.only_value("ghstack-source-id")
    return MessageFinding(keys=(f"ghstack:{source.lower()}",)) if source and len(source) == 40 else None


def x_link(reading: LandingReading) -> MessageFinding | None:
    """`X-link: <address>`: an export of work whose home is that repository, or that is shared with it."""
    found = [target for value in reading.trailers.get("x-link", ()) if (target := pull_address(value, reading.host))]
    others = [target for target in found if not same_repository(target[0], reading.repository)]
    if not others:
        return None
    return MessageFinding(
        keys=tuple(key for name, number in others for key in (pull_key(name, number), f"slice:{name.lower()}#{number}"))
    )


def phabricator(reading: LandingReading) -> MessageFinding | None:
    value = reading.only_value("differential revision") or reading.only_value("differential-revision")
    if value is None:
        return None
    at = value.find("D")
    number = leading_number(value[at + 1 :]) if at >= 0 else None
    return MessageFinding(keys=(f"drev:D{number}",)) if number else None


def ship_it(reading: LandingReading) -> MessageFinding | None:
    source = reading.only_value("fbshipit-source-id")
    return MessageFinding(keys=(f"shipit:{source[:12].lower()}",)) if source and len(source) >= 12 else None


def closed_pull(reading: LandingReading) -> MessageFinding | None:
    """`Closes #12 from user/branch`: only a pull request comes from a branch."""
    if " from " not in reading.landing.commit.message or " #" not in reading.landing.commit.message:
        return None
    for line in reading.lines[1:]:
        if " #" not in line:
            continue
        word, _, rest = line.lstrip().partition(" #")
        if word.lower() not in ("closes", "this closes", "close") or " from " not in rest:
            continue
        number = leading_number(rest)
        source = rest.partition(" from ")[2].split(maxsplit=1)[:1]
        if number is not None and source and ("/" in source[0] or ":" in source[0]):
            return MessageFinding(number)
    return None


def gerrit(reading: LandingReading) -> MessageFinding | None:
    """`Change-Id` and `Reviewed-on`."""
    keys = []
    change, review = reading.only_value("change-id"), reading.only_value("reviewed-on")
    if change and change[:1] == "I" and len(change) == 41:
        keys.append("change-id:" + change)
    if review and review.startswith(("https://", "http://")):
        keys.append("review:" + review.partition("://")[2].split(maxsplit=1)[0].rstrip("/"))
    return MessageFinding(keys=tuple(keys)) if keys else None


def gerrit_pull(reading: LandingReading) -> MessageFinding | None:
    """`GitHub-Pull-Request: owner/name#12`."""
    target = pull_reference(reading.only_value("github-pull-request") or "", reading.repository, reading.host)
    if target is None:
        return None
    own = same_repository(target[0], reading.repository)
    return MessageFinding(target[1]) if own else MessageFinding(keys=(pull_key(*target),))


def copybara(reading: LandingReading) -> MessageFinding | None:
    """`PiperOrigin-RevId`, `GitOrigin-RevId`; `COPYBARA_INTEGRATE_REVIEW=<address>` or a preserved merge subject names
    the pull request.
    """
    revision, origin = reading.only_value("piperorigin-revid"), reading.only_value("gitorigin-revid")
    keys = [f"piper:{revision}"] if revision and revision.isdecimal() else []
    keys += [f"commit:{origin.lower()}"] if origin and len(origin) == 40 else []
    number = _integrated_pull(reading)
    if number is None and keys and reading.subject.startswith("Merge pull request #") and " from " in reading.subject:
        number = leading_number(reading.subject[len("Merge pull request #") :])
    return MessageFinding(number, tuple(keys)) if keys or number else None


def _integrated_pull(reading: LandingReading) -> int | None:
    if "COPYBARA_INTEGRATE_REVIEW=" not in reading.landing.commit.message:
        return None
    for line in reading.lines[1:]:
        if line.startswith("COPYBARA_INTEGRATE_REVIEW="):
            target = pull_address(line, reading.host)
            if target and same_repository(target[0], reading.repository):
                return target[1]
    return None


def mailed_patch(reading: LandingReading) -> MessageFinding | None:
    """`Link: https://lore.kernel.org/r/<message id>`: the mail with the patch."""
    for value in reversed(reading.trailers.get("link", [])):
        for host in ("lore.kernel.org/r/", "patch.msgid.link/", "lkml.kernel.org/r/", "msgid.link/"):
            _, found, message = value.partition(host)
            if found and "@" in message:
                return MessageFinding(keys=("mail:" + message.split(maxsplit=1)[0].rstrip("/"),))
    return None


def subversion(reading: LandingReading) -> MessageFinding | None:
    """`git-svn-id: <address>@<revision> <repository id>`."""
    words = (reading.only_value("git-svn-id") or "").split()
    revision = words[0].rpartition("@")[2] if len(words) == 2 else ""
    return MessageFinding(keys=(f"svn:{words[1].lower()}@{revision}",)) if revision.isdecimal() else None


def cherry_pick(reading: LandingReading) -> MessageFinding | None:
    """`(cherry picked from commit <id>)`: consecutive lines identify one work; scattered ones prove nothing."""
    if _PICKED not in reading.landing.commit.message:
        return None
    at = [number for number, line in enumerate(reading.lines) if line.startswith(_PICKED)]
    if not at or at[-1] - at[0] != len(at) - 1:
        return None
    ids = [reading.lines[number][len(_PICKED) :].rstrip(") .").lower() for number in at]
    ids = [sha for sha in ids if len(sha) == 40 and not sha.strip("0123456789abcdef")]
    return MessageFinding(keys=tuple(f"commit:{sha}" for sha in ids)) if ids else None


def backport(reading: LandingReading) -> MessageFinding | None:
    """Backport bots and titles: `(backport #12)`, `Backport PR #12 on branch x`, `[3.12] Title (#12) (#15)`,
    `**This is a backport of PR #12 …**`; without a number, the title or an abbreviated commit names the original.
    """
    title = title_on_branch(reading.subject)
    if title is None and "backport" not in reading.message.lower:
        return None
    number = _backported_pull(reading.subject) or (_inner_number(title) if title else None)
    if number is None:
        lines = [line.strip("* ") for line in reading.lines[1:12]]
        line = next((line for line in lines if line.lower().startswith("this is a backport of pr #")), "")
        number = leading_number(line.partition("#")[2]) if line else None
    if number:
        return MessageFinding(keys=(pull_key(reading.repository, number),))
    named = _PORTED_COMMIT.match(reading.subject)
    if named and is_commit_id(named[1]):
        return MessageFinding(keys=(f"{PORT}commit:{named[1]}",))
    return MessageFinding(keys=(PORT + title_key(reading.repository, title),)) if title else None


_BRANCH = re.compile(
    r"(?:\[(?:back-?port(?:ed)?|bp)\] ?)?\[(?:back-?port (?:to )?)?(?:v|release[-/ ]|branch[-/ ]|stable[-/ ])?"
    r"[0-9]{1,4}(?:\.(?:[0-9]{1,4}|x)){1,3}(?: back-?port)?\]:? ?(.{8,400})",
    re.IGNORECASE,
)
_PORTED_COMMIT = re.compile(r"back-?port(?: commit| of)? ([0-9a-f]{7,40})\b", re.IGNORECASE)


def title_on_branch(subject: str) -> str | None:
    """The title after the branch of a backport: `[3.12] Title`, `[backport][3.12] Title`."""
    found = _BRANCH.match(subject)
    return found[1] if found else None


def _inner_number(title: str) -> int | None:
    """`Title (#12) (#15)`: the pull request that is brought again; the last number is the backport's own."""
    outer = number_at_end(title)
    inner = number_at_end(outer[1]) if outer else None
    return inner[0] if inner else None


def _backported_pull(subject: str) -> int | None:
    lower = subject.lower()
    for mark in ("(backport #", "(backports #", "(backport of #"):
        _, found, rest = lower.partition(mark)
        if found:
            return leading_number(rest)
    for prefix in ("backport pr #", "backport #", "[backport] pr #"):
        if lower.startswith(prefix):
            return leading_number(lower[len(prefix) :])
    if lower.startswith("[pr #") and " backport]" in lower[:60]:
        return leading_number(lower[5:])
    return None


def _named_pull(text: str, reading: LandingReading) -> tuple[str, int] | None:
    return pull_reference(text, reading.repository, reading.host)


def configured_trailer(reading: LandingReading) -> MessageFinding | None:
    """A trailer that the repository configured as naming its pull request; `Closes #12` needs no colon."""
    for name in reading.settings.trailers:
        plain = name.lower().rstrip(":")
        bare = [line[len(plain) :] for line in reading.lines[1:] if line.lower().startswith(plain + " #")]
        for value in reversed([*reading.trailers.get(plain, []), *bare]):
            target = _named_pull(value, reading) or _named_pull("#" + value, reading)
            if target and same_repository(target[0], reading.repository):
                return MessageFinding(target[1])
    return None
