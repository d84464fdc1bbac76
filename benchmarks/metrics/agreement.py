"""How well do scores rank outcomes, and are their stated probabilities right?"""

from __future__ import annotations

from collections.abc import Sequence


def auc(truth: Sequence[bool], value: Sequence[float]) -> float:
    """The chance that a true case has a higher value than a false one; ties count half. 0.5 if none or all are true."""
    order = sorted(range(len(value)), key=value.__getitem__)
    positives = sum(truth)
    negatives = len(truth) - positives
    if not positives or not negatives:
        return 0.5
    rank_sum, start = 0.0, 0
    while start < len(order):
        end = start
        while end < len(order) and value[order[end]] == value[order[start]]:
            end += 1
        rank = (start + end + 1) / 2
        rank_sum += rank * sum(truth[index] for index in order[start:end])
        start = end
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def auc_at_equal_size(truth: Sequence[bool], value: Sequence[float], size: Sequence[float], strata: int = 8) -> float:
    """The AUC over pairs of the same size stratum, for all strata together."""
    order = sorted(range(len(size)), key=size.__getitem__)
    total = pairs = 0.0
    for stratum in range(strata):
        members = order[stratum * len(order) // strata : (stratum + 1) * len(order) // strata]
        stratum_truth = [truth[index] for index in members]
        weight = sum(stratum_truth) * (len(stratum_truth) - sum(stratum_truth))
        if weight:
            total += weight * auc(stratum_truth, [value[index] for index in members])
            pairs += weight
    return total / pairs if pairs else 0.5


def calibration_error(truth: Sequence[bool], chance: Sequence[float], groups: int = 10) -> float:
    """Mean difference between stated chance and observed frequency, over groups of equal size."""
    order = sorted(range(len(chance)), key=chance.__getitem__)
    error = 0.0
    for group in range(groups):
        members = order[group * len(order) // groups : (group + 1) * len(order) // groups]
        error += abs(sum(chance[index] - truth[index] for index in members))
    return error / len(order)


def lift(truth: Sequence[bool], chance: Sequence[float]) -> float:
    """The outcome's frequency in the tenth with the highest chance, divided by the base rate."""
    order = sorted(range(len(chance)), key=lambda index: -chance[index])
    worst = order[: max(1, len(order) // 10)]
    base = sum(truth) / len(truth)
    return sum(truth[index] for index in worst) / len(worst) / base if base else 0.0
