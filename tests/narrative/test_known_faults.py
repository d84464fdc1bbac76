"""Are untrue sentences as other summaries print them refused, with the reason in the log?"""

from __future__ import annotations

import pytest

from bot.model.profile import Sentence
from bot.narrative.grounding import check
from tests.narrative.worlds import change, facts

OPERATORS = ["ge.Tensor_out / ge.Scalar_out", "le.Tensor_out / le.Scalar_out", "mul.Scalar_out / mul.out"]
JUNE = facts(
    [
        change("Basic MTIA ATen CMake", number=1, repository="pytorch/pytorch"),
        *(
            change(f"[MTIA ATen Backend] Add dispatch keys for {name}", number=at, repository="pytorch/pytorch")
            for at, name in enumerate(OPERATORS, 2)
        ),
    ]
)
ALL = tuple(JUNE.changes)


@pytest.mark.parametrize(
    ("sentence", "kind", "word"),
    [
        ("Enabled MTIA (Multi-Tensor Intermediate Accumulation) support within ATen.", "expansion", "Multi-Tensor"),
        ("This work lays the groundwork for higher throughput and reduced memory churn.", "effect", "throughput"),
        ("Led MTIA backend integration across two major forks.", "praise", "Led"),
        ("Led MTIA backend integration across two major forks.", "number", "two major forks"),
        ("In June, I focused on enabling MTIA support.", "pronoun", "I"),
        ("Business value: expanded device compatibility.", "praise", "business value"),
        (
            "Delivered broad MTIA-backed tensor operations in graphcore/pytorch-fork.",
            "repository",
            "graphcore/pytorch-fork",
        ),
        (
            "These changes improve reliability and long-term maintainability across workloads.",
            "effect",
            "maintainability",
        ),
    ],
)
def test_a_known_false_sentence_is_refused_and_named(sentence: str, kind: str, word: str) -> None:
    found = check(Sentence(sentence, ALL), JUNE)
    assert any(refusal.kind == kind and word in refusal.word for refusal in found), [str(refusal) for refusal in found]


def test_sentences_supported_by_the_changes_are_accepted() -> None:
    text = "June 2025, pytorch/pytorch: added dispatch keys for ge.Tensor_out / ge.Scalar_out in MTIA ATen Backend."
    assert check(Sentence(text, ALL), JUNE) == ()
