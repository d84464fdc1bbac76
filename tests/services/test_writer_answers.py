"""Can a model choose, order and label, and nothing else?"""

from __future__ import annotations

import json

from bot.services.writer.answers import Offer, offer_of, read_answer
from tests.narrative.worlds import change, entry, quotes

CHANGES = [
    change(title, number=at)
    for at, title in enumerate(
        ("Added retries to the client", "Closed the socket of the client", "Explained the server", "Typed the server"),
        1,
    )
]


def offer() -> Offer:
    return offer_of(quotes(*map(entry, CHANGES)), CHANGES)


def answer(highlights: list[str], *groups: tuple[str, list[str]]) -> str:
    return json.dumps({"highlights": highlights, "groups": [{"label": name, "entries": ids} for name, ids in groups]})


def test_the_chosen_order_and_labels_are_kept() -> None:
    chosen = read_answer(answer(["e2"], ("Server", ["e4", "e3"])), offer())
    assert chosen.order.highlights == (CHANGES[1].id,)
    assert chosen.order.groups == (("Server", (CHANGES[3].id, CHANGES[2].id)),)
    assert chosen.refused == ()


def test_an_unknown_id_is_refused_and_no_id_is_used_twice() -> None:
    chosen = read_answer(answer(["e9", "e1"], ("Client", ["e1", "e2"])), offer())
    assert chosen.order.highlights == (CHANGES[0].id,)
    assert chosen.order.groups == (("Client", (CHANGES[1].id,)),)
    assert chosen.refused == ("no entry 'e9'",)


def test_a_label_whose_words_are_not_in_the_evidence_is_refused() -> None:
    chosen = read_answer(answer(["e1"], ("Excellent server", ["e3"])), offer())
    assert chosen.order.groups == ()
    assert "the label 'Excellent server' is not in the evidence of its entries" in chosen.refused


def test_a_malformed_or_empty_answer_leaves_the_ranking() -> None:
    for text in ("", "no", '{"highlights": 3}', answer([]), answer(["x"]), "[" * 5_000):
        assert read_answer(text, offer()).order == offer().ranked


def test_the_offer_holds_no_person_and_no_address() -> None:
    assert "Mira" not in offer().prompt
    assert "http" not in offer().prompt
