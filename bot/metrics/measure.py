"""What does one landed commit show without any other? Every commit-local metric, in one pass over its patch."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from bot.landing.changelogs.headings import added_headings
from bot.landing.changelogs.reading import changelog_lines
from bot.landing.conventions.recognition import Recognised, recognise_all
from bot.landing.identity.credit import co_authors
from bot.landing.identity.evidence import evidence_of, with_shares
from bot.landing.identity.machines import NOTHING_STATED, StatedMachines, is_machine
from bot.landing.identity.servers import on_own_server
from bot.landing.lines.attributes import Attributes
from bot.landing.lines.patch import read_patches
from bot.landing.lines.split import ReadFile, Rules, languages, read_all, split
from bot.landing.message.parts import DEFAULT, LandingSettings
from bot.metrics.ai_usage import marks
from bot.metrics.change_kind import KindEvidence, Verdict, classify_all
from bot.metrics.import_changes import import_changes
from bot.metrics.kind_rules import NO_OWN_KINDS, OwnKinds, merged_branch
from bot.metrics.line_hashes import hash_lines
from bot.metrics.links import links
from bot.metrics.skills import skills_of
from bot.model.commit import Commit, FileChange, Landing, Signature
from bot.model.fact import AiMark, Fact, ImportChange, Lines

if TYPE_CHECKING:
    from bot.landing.repo_config.options import RepoConfig

_SOURCE_PARTS = ("authored", "tests", "docs", "config")
_MOST_PATHS = 300
_MOST_RENAMES = 100
_MOST_AREAS = 5
_AREA = re.compile(
    r"(?:area|component|comp|module|package|pkg|crate|domain|subsystem|topic|scope"
    r"|plugin)\s?[:/-]\s?(.{2,40})|A-(\w.{1,38})",
    re.IGNORECASE,
)
_MOST_SUBJECT = 400
"""characters, as in a subject nobody wrote by hand"""
_TOGETHER = 50
"""landings measured together: the working set of one step stays in the processor's cache"""
_MUCH_TEXT = 1 << 20
"""characters of patches above which no more landings are measured together"""


class Measure(Struct, frozen=True):
    """The rules of one repository: how its files are classified, and how its landings are recognised."""

    files: Rules = field(default_factory=Rules)
    landing: LandingSettings = DEFAULT
    kinds: OwnKinds = NO_OWN_KINDS
    machines: StatedMachines = NOTHING_STATED
    imports: bool = False
    """whether facts hold what commits import"""

    @classmethod
    def of(cls, config: RepoConfig, attributes: Attributes) -> Measure:
        """The rules from a repository's configuration and `.gitattributes`."""
        kinds = OwnKinds(labels=dict(config.kinds_labels), scopes=dict(config.kinds_scopes))
        return cls(config.rules(attributes), config.landing_settings(), kinds, config.stated_machines())


def _paths(read: tuple[ReadFile, ...]) -> tuple[str, ...]:
    return tuple(sorted(file.change.path for file in read if file.part in _SOURCE_PARTS)[:_MOST_PATHS])


def _evidence(landing: Landing, recognised: Recognised, read: tuple[ReadFile, ...]) -> KindEvidence:
    subject, _, body = landing.commit.message.partition("\n")
    pull_request = landing.pull_request
    labels = pull_request.labels if pull_request else ()
    own_subject = subject if subject != recognised.title else ""
    return KindEvidence(recognised.title, body, read, labels, _branch(landing, recognised), subject=own_subject)


def _branch(landing: Landing, recognised: Recognised) -> str:
    """The branch of the proved pull request: as GitHub names it, else as the merge commit does."""
    if landing.pull_request is not None:
        return landing.pull_request.head_ref
    if recognised.pull_request is None or landing.merge_commit.id == landing.commit.id:
        return ""
    return merged_branch(landing.merge_commit.message)


class _Measured(NamedTuple):
    """What a landing shows about the work and its people."""

    lines: Lines
    languages: Mapping[str, int]
    paths: tuple[str, ...]
    skills: Mapping[str, int]
    line_hashes: bytes
    links: tuple[str, ...]
    ai: tuple[AiMark, ...]
    co_authors: tuple[Signature, ...]
    imports: tuple[ImportChange, ...]


def measure(landing: Landing, rules: Measure, *, notes: str | None = None) -> Fact:
    """The fact of one landing: a pure function of the commit, its merge commit, its pull request and the rules.

    `notes` are the commit's line notes (refs/notes/ai), if a clone has them.
    """
    return _measure_group([landing], rules, {landing.commit.id: notes} if notes else {})[0]


def measure_all(landings: Iterable[Landing], rules: Measure, notes: Mapping[str, str]) -> Iterator[Fact]:
    """The fact of each landing, in order; `notes` are line notes by commit.

    Landings are measured in batches, one step at a time for the whole batch: repeating one small step fifty times takes
    two thirds of the time of fifty alternating steps.
    """
    group: list[Landing] = []
    size = 0
    for landing in landings:
        group.append(landing)
        size += sum([len(file.patch) for file in landing.commit.files if file.patch])
        if len(group) == _TOGETHER or size > _MUCH_TEXT:
            yield from _measure_group(group, rules, notes)
            group, size = [], 0
    yield from _measure_group(group, rules, notes)


def _measure_group(group: Sequence[Landing], rules: Measure, notes: Mapping[str, str]) -> list[Fact]:
    group = list(map(on_own_server, group))
    if rules.machines:
        group = [_mark_machines(one, rules.machines) for one in group]
    patches = [read_patches(one.commit.files) for one in group]
    known = recognise_all(group, patches, rules.landing)
    files = read_all([one.commit.files for one in group], patches, rules.files)
    verdicts = classify_all([_evidence(*seen) for seen in zip(group, known, files, strict=True)], rules.kinds)
    persons = [not is_machine(one.commit.author) for one in group]
    joins = [
        links(one, recognised) if person else () for one, recognised, person in zip(group, known, persons, strict=True)
    ]
    ai = [marks(one.commit, one.pull_request, notes.get(one.commit.id)) for one in group]
    credited = [co_authors(one.commit.message, one.commit.author, rules.machines) for one in group]
    imports = [import_changes(read) if rules.imports else () for read in files]
    measured = map(_Measured._make, zip(*_work(files, persons), joins, ai, credited, imports, strict=True))
    return [_fact(*seen) for seen in zip(group, known, verdicts, measured, strict=True)]


def _mark_machines(landing: Landing, stated: StatedMachines) -> Landing:
    commit = landing.commit
    author, committer = stated.mark(commit.author), stated.mark(commit.committer)
    asked = landing.pull_request
    if asked is not None and asked.shares:
        asked = replace(asked, shares=tuple(replace(one, author=stated.mark(one.author)) for one in asked.shares))
    return replace(landing, commit=replace(commit, author=author, committer=committer), pull_request=asked)


def _work(
    files: Sequence[tuple[ReadFile, ...]], persons: Sequence[bool]
) -> tuple[list[Lines], list[dict[str, int]], list[tuple[str, ...]], list[dict[str, int]], list[bytes]]:
    """The first fields of what each landing shows, one list per field.

    A machine has no skills and no items: its commits are only counted, and take lines from others.
    """
    lines, line_languages, paths = list(map(split, files)), list(map(languages, files)), list(map(_paths, files))
    measured = [read if person else () for read, person in zip(files, persons, strict=True)]
    return lines, line_languages, paths, list(map(skills_of, measured)), list(map(hash_lines, files))


def _fact(landing: Landing, recognised: Recognised, verdict: Verdict, measured: _Measured) -> Fact:
    commit, evidence = landing.commit, evidence_of(landing)
    shares = evidence.shares if evidence else ()
    return Fact(
        repository=landing.repository.full_name,
        commit=commit.id,
        landed_at=int(landing.landed_at.timestamp()),
        authored_at=int(commit.authored_at.timestamp()),
        author=commit.author,
        committer=commit.committer,
        title=recognised.title,
        how=recognised.how,
        merge_commit=landing.merge_commit.id,
        pull_request=recognised.pull_request,
        co_authors=with_shares(measured.co_authors, commit.author, shares),
        keys=recognised.keys,
        reverts=recognised.reverts,
        relands=recognised.relands,
        lines=measured.lines,
        kind=verdict.kind,
        why=verdict.why,
        certain=verdict.certain,
        probability=verdict.probability,
        languages=measured.languages,
        skills=measured.skills,
        ai=measured.ai,
        paths=measured.paths,
        links=measured.links,
        partial=commit.partial,
        line_hashes=measured.line_hashes,
        opened_at=_opened_at(landing, recognised.pull_request),
        evidence=evidence,
        subject=subject if (subject := _subject(commit)) != recognised.title else "",
        merge_subject=_merge_subject(landing),
        changelog=changelog_lines(commit.files, landing.repository.full_name),
        renames=_renames(commit.files),
        headings=added_headings(commit.files),
        areas=_areas(landing.pull_request.labels) if landing.pull_request else (),
        clamped=landing.clamped,
        host=landing.repository.host,
        not_measured=commit.not_measured,
        imports=measured.imports,
    )


def _subject(commit: Commit) -> str:
    return commit.message.lstrip().partition("\n")[0].strip()[:_MOST_SUBJECT]


def _merge_subject(landing: Landing) -> str:
    """The merge commit's subject, unless it only says that it merges."""
    if landing.merge_commit.id == landing.commit.id:
        return ""
    subject = _subject(landing.merge_commit)
    merging = ("merge ", "merged ", "merging ", "auto merge ", "rollup merge ")
    return "" if subject.lower().startswith(merging) else subject


def _areas(labels: Sequence[str]) -> tuple[str, ...]:
    """What stands after the mark in labels that name a part of the product."""
    found = [(match[1] or match[2]).strip() for label in labels if (match := _AREA.fullmatch(label.strip()))]
    return tuple(sorted({area for area in found if area}))[:_MOST_AREAS]


def _renames(files: Sequence[FileChange]) -> tuple[tuple[str, str], ...]:
    """Old and new path of each moved file; of more than fits, those of whole folders."""
    moved = [(file.previous_path, file.path) for file in files if file.status == "renamed" and file.previous_path]
    if len(moved) <= _MOST_RENAMES:
        return tuple(moved)
    folders = Counter(map(_moved_folder, moved))
    return tuple(pair for pair, count in folders.most_common(_MOST_RENAMES) if count > 1)


def _moved_folder(pair: tuple[str, str]) -> tuple[str, str]:
    """The folders that differ between the old and the new path."""
    old, new = (path.split("/") for path in pair)
    while len(old) > 1 and len(new) > 1 and old[-1] == new[-1]:
        old.pop()
        new.pop()
    return "/".join(old), "/".join(new)


def _opened_at(landing: Landing, number: int | None) -> int | None:
    """When the pull request that is proved to have landed the commit was opened, if GitHub reported it."""
    asked = landing.pull_request
    if asked is None or asked.number != number or asked.opened_at is None:
        return None
    return int(asked.opened_at.timestamp())
