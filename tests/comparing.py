"""Which parts of a profile must be equal from deliveries and from clones? All except metrics that only GitHub knows."""

from __future__ import annotations

from typing import Any

from bot.metrics.registry import METRICS
from bot.model.profile import Profile
from bot.render.text.json import profile_object


def same_from_anywhere(profile: Profile) -> dict[str, Any]:
    """The JSON form as an object, without the metrics whose source is GitHub."""
    kept = {metric.key for metric in METRICS if metric.source == "record"}
    found = profile_object(profile)
    for row in (found["overall"], *found["months"]):
        row["metrics"] = {key: value for key, value in row["metrics"].items() if key in kept}
    return found
