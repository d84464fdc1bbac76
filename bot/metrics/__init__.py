"""The metrics: pure functions from landed changes to values with evidence. `registry` lists them all."""

from bot.metrics.metric import Metric
from bot.metrics.registry import METHOD_VERSION, METRICS

__all__ = ["METHOD_VERSION", "METRICS", "Metric"]
