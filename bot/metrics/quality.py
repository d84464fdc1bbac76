"""How sound is a contributor's landed work?"""

from collections.abc import Mapping, Sequence

from bot.metrics.signals import signals
from bot.model import Change, ChangeId, Item, Quality

__all__ = ["rate", "signals"]


def rate(items: Sequence[Item], changes: Mapping[ChangeId, Change]) -> Quality:
    return Quality()
