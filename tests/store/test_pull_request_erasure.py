"""Does an erased person leave stored pull requests, also as one of several authors?"""

from __future__ import annotations

from bot.landing.identity.credit import person_key
from bot.model.commit import PullRequest, Share
from bot.model.ids import CommitId, UserId
from bot.services.pull_requests import pull_request_from_json, pull_request_to_json
from bot.store.erasure import without_people
from tests.store.conftest import ADA, BEA


def test_the_share_of_an_erased_author_stays_without_a_name() -> None:
    pull = PullRequest(
        number=5,
        title="Add part",
        body=f"Adds a part\n\nCo-authored-by: {BEA.name} <{BEA.email}>",
        author=ADA,
        base_ref="main",
        head_ref="part",
        head_id=CommitId("a" * 40),
        shares=(Share(ADA, 2, 9, "Add part"), Share(BEA, 1, 4, "Name of Bea")),
        collaborators=(UserId(ADA.user_id or 0),),
    )
    payload = pull_request_to_json(pull)
    assert pull_request_from_json(5, pull.head_id, payload, merged=None) == pull
    kept = without_people(payload, {person_key(BEA)})
    assert BEA.email not in str(kept)
    assert "Bea" not in str(kept)
    assert [(commits, lines) for _, commits, lines, _ in kept["shares"]] == [(2, 9), (1, 4)]
    assert without_people(payload, {person_key(ADA)})["collaborators"] == []
