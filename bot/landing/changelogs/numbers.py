"""Which issues and pull requests does a changelog entry name, and which people does it credit?"""

from __future__ import annotations

import re

MOST_NUMBERS = 8
_SHORT = re.compile(r"(?:(?<![\w/&])(?P<name>[\w.-]{1,40}/[\w.-]{1,100}))?(?<!&)#(?P<number>\d{1,7})(?!\w)")
_ADDRESS = re.compile(r"github\.com/(?P<name>[\w.-]{1,40}/[\w.-]{1,100})/(?:pull|issues?)/(?P<number>\d{1,7})(?!\d)")
_ROLE = re.compile(
    r":(?:pr|pull|issue|gh|ghpull|ghissue|bug|feature|support|pr_|ticket):`[^`\d]{0,40}?(?P<number>\d{1,7})[^`]{0,4}`"
)
_SPELLED = re.compile(r"(?<!\w)(?:GH|gh|PR|pr|pull request|Pull Request|issue|Issue)[ -](?P<number>\d{1,7})(?![\w.])")

_LOGIN = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})(?:\[bot\])?"
_TICKED = re.compile(r"`{1,2}[^`]{0,200}`{1,2}(?!_)")
_MENTION = re.compile(
    rf"(?:(?:\bby|\bthanks(?: to)?|\bcredits?(?: to)?|\bfrom|,|\band|&|--|—|–|[(\[*])\s*)\[?@({_LOGIN})(?![\w/-])",
    re.IGNORECASE,
)
_LAST_MENTION = re.compile(rf"(?<![\w/])@({_LOGIN})\W*$")
_USER_ROLE = re.compile(r":(?:user|ghuser|gh-user|github-user|github_user):`~?@?([\w-]{1,39})[^`]{0,60}`")
_WORD = r"[A-Z\u00c0-\u024f][\w.'’\u00c0-\u024f-]{0,30}"
_NAME = rf"{_WORD}(?:\s(?:(?:de|van|von|der|da|di|la)\s)?{_WORD}){{1,3}}"
_DONE_BY = (
    r"\b[Pp]atch(?:es)? by|\b[Cc]ontributed by|\b[Cc]ourtesy of|\b[Tt]hanks(?: to)?|\b[Cc]hange by|(?:--|—|–|\()\s?by"
)
_NAMED = re.compile(rf"(?:{_DONE_BY})\s({_NAME})(?:(?:,| and|, and)\s({_NAME}))?")
_LAST_NAME = re.compile(rf"[)\]`_\d]\s\(({_NAME})\)\W*$")


def change_numbers(text: str, repository: str) -> tuple[int, ...]:
    """The numbers of this repository's issues and pull requests in the text, in no other repository's name."""
    found: list[int] = []
    for pattern in (_SHORT, _ADDRESS, _ROLE, _SPELLED):
        for match in pattern.finditer(text):
            name = match.groupdict().get("name")
            if not name or name.lower() == repository.lower():
                found.append(int(match["number"]))
    return tuple(dict.fromkeys(found))[:MOST_NUMBERS]


def credited_people(text: str) -> tuple[str, ...]:
    """The logins and names of the people whom the entry credits with the work; empty if it credits nobody."""
    if not any(mark in text for mark in ("@", ":", " by ", "hanks", "of ", "(")):
        return ()
    found = [match[1] for match in _USER_ROLE.finditer(text)]
    plain = _TICKED.sub(" ", text)
    found += [match[1] for match in _MENTION.finditer(plain)] + [match[1] for match in _LAST_MENTION.finditer(plain)]
    found += [name for match in _NAMED.finditer(plain) for name in match.groups() if name]
    found += [match[1] for match in _LAST_NAME.finditer(text)]
    return tuple(dict.fromkeys(name.rstrip(".") for name in found))[:MOST_NUMBERS]
