"""By which rules is a clone's history measured?"""

from __future__ import annotations

from collections.abc import Mapping

from bot.history.clone import Clone
from bot.landing.attributes import Attributes
from bot.landing.repo_config import RepoConfig, read_config
from bot.landing.rule_files import ATTRIBUTES_PATH, CONFIG_PATH
from bot.metrics.measure import Measure


def rules_of(clone: Clone, files: Mapping[str, tuple[str, str]] | None = None) -> Measure:
    """The rules at the head of the default branch: they hold for the whole history, as on the page that shows it.

    `files` are those that say so, by path, where somebody has read them already: the id and the text of each.
    """
    files = clone.files(ATTRIBUTES_PATH, CONFIG_PATH) if files is None else files
    config = read_config(files[CONFIG_PATH][1]) if CONFIG_PATH in files else RepoConfig()
    if not isinstance(config, RepoConfig):
        config = RepoConfig()
    return Measure.of(config, Attributes.parse(files[ATTRIBUTES_PATH][1] if ATTRIBUTES_PATH in files else ""))
