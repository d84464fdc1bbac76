"""Which rules apply to the measuring of a clone's history?"""

from __future__ import annotations

from collections.abc import Mapping

from bot.history.clone import Clone
from bot.landing.lines.attributes import Attributes
from bot.landing.lines.paths import Rules
from bot.landing.repo_config.files import ATTRIBUTES_PATH, CONFIG_PATH
from bot.metrics.measure import Measure


def rules_of(clone: Clone, files: Mapping[str, tuple[str, str]] | None = None) -> Measure:
    """The rules at the head of the default branch: they apply to the whole history, as on the page that shows it.

    `files` are the files with the rules, if already read: the id and the text of each, by path.
    """
    files = clone.files(ATTRIBUTES_PATH, CONFIG_PATH) if files is None else files
    attributes = Attributes.parse(files[ATTRIBUTES_PATH][1] if ATTRIBUTES_PATH in files else "")
    if CONFIG_PATH not in files:
        return Measure(Rules(attributes))
    from bot.landing.repo_config.options import RepoConfig, read_config  # most clones have no such file

    config = read_config(files[CONFIG_PATH][1])
    return Measure.of(config if isinstance(config, RepoConfig) else RepoConfig(), attributes)
