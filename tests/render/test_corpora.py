from __future__ import annotations

import pytest

from tests.campaigns.corpora import SINKS, active, control
from tests.render.hostile import OWN, payloads

SAMPLE = (*OWN[::2], *payloads()[::150])


@pytest.mark.parametrize("sink", SINKS)
def test_no_text_of_the_corpora_is_active_in_posts(sink: str) -> None:
    """A sample; `make campaign-corpora` sends every text through."""
    assert {text: found for text in SAMPLE if (found := active(sink, text))} == {}


def test_the_same_texts_are_active_in_every_sink_without_escaping() -> None:
    with control():
        for sink in SINKS:
            assert any(active(sink, text, escaped=False) for text in SAMPLE), sink
        assert sum(bool(active("check run", text, escaped=False)) for text in SAMPLE) > len(SAMPLE) / 3
