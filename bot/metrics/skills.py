from collections.abc import Iterable, Sequence

from bot.landing.lines import ReadFile
from bot.model import ChangeId, Fact, Month, TechnicalSkill


def skills_of(
    read: Sequence[ReadFile], repository_topics: Sequence[str] = (), labels: Sequence[str] = ()
) -> dict[str, int]:
    return {}


def technical(commits: Iterable[tuple[ChangeId, Fact]], now_month: Month) -> tuple[TechnicalSkill, ...]:
    return ()
