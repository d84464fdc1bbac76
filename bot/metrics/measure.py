"""What one landed commit says by itself: every commit-local metric, in one pass over its patch."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.landing.attributes import Attributes
from bot.landing.conventions import DEFAULT, LandingSettings, Recognised, recognise
from bot.landing.identity import co_authors, is_bot
from bot.landing.lines import ReadFile, Rules, languages, read_files, split
from bot.landing.patch import read_patches
from bot.landing.repo_config import RepoConfig
from bot.metrics.ai_usage import marks
from bot.metrics.change_kind import Evidence, Verdict, classify
from bot.metrics.items import links
from bot.metrics.kind_rules import NO_OWN_KINDS, OwnKinds
from bot.metrics.quality import signals
from bot.metrics.skills import skills_of
from bot.model import Fact, Landing

_SOURCE_PARTS = ("authored", "tests", "docs", "config")
_MOST_PATHS = 300


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


def measure(landing: Landing, rules: Measure, *, notes: str | None = None) -> Fact:
    """The fact of one landing: a pure function of the commit, its carrier, its pull request and the rules.

    `notes` are the commit's line notes (refs/notes/ai), where a clone has them.
    """
    commit = landing.commit
    patches = read_patches(commit.files)
    recognised = recognise(landing, rules.landing, patches)
    read = read_files(commit.files, rules.files, patches)
    verdict = _verdict(landing, recognised, read, rules.kinds)
    # a machine has no skills, scores or items: its commits are only counted, and seen in the files' history
    person = not is_bot(commit.author)
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
        skills=skills_of(read) if person else {},
        ai=marks(commit, landing.pull_request, notes),
        signals=signals(read) if person else {},
        paths=_paths(read),
        links=links(landing, recognised) if person else (),
        partial=commit.partial,
    )
