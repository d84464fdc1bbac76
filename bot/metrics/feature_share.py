"""What share of the person's features and bug fixes are features?"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bot.metrics import bugs, features
from bot.metrics.metric import Metric
from bot.metrics.work import Work
from bot.model.profile import Part

LEAST_ITEMS = 10
"""below this many features and bug fixes one more item moves the share by more than five points"""


def value(work: Work) -> Fraction | None:
    added, mended = features.value(work), bugs.value(work)
    return Fraction(added, added + mended) if added + mended >= LEAST_ITEMS else None


def evidence(work: Work) -> Iterator[Part]:
    yield from features.evidence(work)
    yield from (Part(part.changes, 0) for part in bugs.evidence(work))


FEATURE_SHARE = Metric(
    key="feature_share",
    field="feature_share",
    version=2,
    label="Feature share",
    words=("features", "features"),
    unit="share",
    note="features among features and bug fixes",
    question="Which share of features and bug fixes are features?",
    definition="Features among the features and bug fixes whose kind is certain; nothing below ten of them.",
    formula="features / (features + bugs)",
    basis="the items: a feature is 1, a bug fix 0",
    works="See `items` and `kind`.",
    fails="A person who mends more than they add has a low share: it ranks nobody.",
    value=value,
    evidence=evidence,
    surfaces=frozenset({"text"}),
    percent=True,
    nothing="too few to say",
    monthly=False,
    additive=False,
)
