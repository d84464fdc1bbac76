"""What one landed commit says by itself: every commit-local metric, in one pass over its patch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bot.landing.attributes import Attributes
from bot.landing.conventions import DEFAULT, LandingSettings, Recognised, recognise
from bot.landing.identity import co_authors, is_bot
from bot.landing.lines import ReadFile, Rules, languages, read_files, split
from bot.landing.patch import read_patches
from bot.landing.repo_config import RepoConfig
from bot.metrics.ai_usage import marks
from bot.metrics.change_kind import Evidence, Verdict, classify
from bot.metrics.kind_rules import NO_OWN_KINDS, OwnKinds
from bot.metrics.links import links
from bot.metrics.quality import signals
from bot.metrics.skills import skills_of
from bot.model import AiMark, Fact, Landing

_SOURCE_PARTS = ("authored", "tests", "docs", "config")
_MOST_PATHS = 300
_TOGETHER = 16
"""landings measured together: what one step needs of them stays near the processor"""
_MUCH_TEXT = 1 << 20
"""characters of patches that are not measured together with more"""


@dataclass(frozen=True, slots=True)
class Measure:
    """The rules of one repository: how its files are read, and how its landings are recognised."""

    files: Rules = field(default_factory=Rules)
    landing: LandingSettings = DEFAULT
    kinds: OwnKinds = NO_OWN_KINDS

    @classmethod
    def of(cls, config: RepoConfig, attributes: Attributes) -> Measure:
        """The rules that a repository's configuration and `.gitattributes` make."""
        kinds = OwnKinds(labels=dict(config.kinds_labels), scopes=dict(config.kinds_scopes))
        return cls(config.rules(attributes), config.landing_settings(), kinds)


def _paths(read: tuple[ReadFile, ...]) -> tuple[str, ...]:
    return tuple(sorted(file.change.path for file in read if file.part in _SOURCE_PARTS)[:_MOST_PATHS])


def _verdict(landing: Landing, recognised: Recognised, read: tuple[ReadFile, ...], own: OwnKinds) -> Verdict:
    _, _, body = landing.commit.message.partition("\n")
    pull_request = landing.pull_request
    return classify(
        Evidence(
            title=recognised.title,
            body=body,
            files=read,
            labels=pull_request.labels if pull_request else (),
            branch=pull_request.head_ref if pull_request else "",
        ),
        own,
    )


class _Shown(NamedTuple):
    """What a landing shows of who made it."""

    skills: Mapping[str, int]
    signals: Mapping[str, int]
    links: tuple[str, ...]
    ai: tuple[AiMark, ...]


def measure(landing: Landing, rules: Measure, *, notes: str | None = None) -> Fact:
    """The fact of one landing: a pure function of the commit, its carrier, its pull request and the rules.

    `notes` are the commit's line notes (refs/notes/ai), where a clone has them.
    """
    return _together([landing], rules, {landing.commit.id: notes} if notes else {})[0]


def measure_all(landings: Iterable[Landing], rules: Measure, notes: Mapping[str, str]) -> Iterator[Fact]:
    """The fact of each landing, in order; `notes` are line notes by commit.

    A few landings at a time take each step together: a processor that does one thing sixteen times over is faster than
    one that does sixteen things in turn.
    """
    group: list[Landing] = []
    size = 0
    for landing in landings:
        group.append(landing)
        size += sum([len(file.patch) for file in landing.commit.files if file.patch])
        if len(group) == _TOGETHER or size > _MUCH_TEXT:
            yield from _together(group, rules, notes)
            group, size = [], 0
    yield from _together(group, rules, notes)


def _together(group: Sequence[Landing], rules: Measure, notes: Mapping[str, str]) -> list[Fact]:
    patches = [read_patches(one.commit.files) for one in group]
    known = [recognise(one, rules.landing, lines) for one, lines in zip(group, patches, strict=True)]
    files = [read_files(one.commit.files, rules.files, lines) for one, lines in zip(group, patches, strict=True)]
    verdicts = [_verdict(*seen, rules.kinds) for seen in zip(group, known, files, strict=True)]
    # a machine has no skills, scores or items: its commits are only counted, and seen in the files' history
    persons = [not is_bot(one.commit.author) for one in group]
    skills = [skills_of(read) if person else {} for read, person in zip(files, persons, strict=True)]
    shapes = [signals(read) if person else {} for read, person in zip(files, persons, strict=True)]
    joins = [links(one, said) if person else () for one, said, person in zip(group, known, persons, strict=True)]
    ai = [marks(one.commit, one.pull_request, notes.get(one.commit.id)) for one in group]
    shown = map(_Shown, skills, shapes, joins, ai)
    return [_fact(*seen) for seen in zip(group, known, files, verdicts, shown, strict=True)]


def _fact(
    landing: Landing, recognised: Recognised, read: tuple[ReadFile, ...], verdict: Verdict, shown: _Shown
) -> Fact:
    commit = landing.commit
    return Fact(
        repository=landing.repository.full_name,
        commit=commit.id,
        landed_at=int(landing.landed_at.timestamp()),
        authored_at=int(commit.authored_at.timestamp()),
        author=commit.author,
        committer=commit.committer,
        title=recognised.title,
        how=recognised.how,
        carrier=landing.carrier.id,
        pull_request=recognised.pull_request,
        co_authors=co_authors(commit.message, commit.author),
        keys=recognised.keys,
        reverts=recognised.reverts,
        relands=recognised.relands,
        lines=split(read),
        kind=verdict.kind,
        why=verdict.why,
        certain=verdict.certain,
        languages=languages(read),
        skills=shown.skills,
        ai=shown.ai,
        signals=shown.signals,
        paths=_paths(read),
        links=shown.links,
        partial=commit.partial,
    )
