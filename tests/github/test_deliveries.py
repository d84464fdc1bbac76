"""Which parts of a delivery are read, and which deliveries are refused?"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.payloads import deliveries, reading
from bot.model.ids import InstallationId, RepositoryId, UserId

WHOLE = {
    "action": "closed",
    "installation": {"id": 5, "node_id": "x"},
    "repository": {"id": 7, "default_branch": "main", "owner": {"id": 1}},
    "sender": {"id": 11, "login": "person-11", "type": "User", "url": "https://example.invalid"},
    "pull_request": {"number": 3, "state": "closed", "merged": True, "body": "text " * 10},
}


def read(**more: Any) -> deliveries.DeliveryPayload:
    return deliveries.read(json.dumps(WHOLE | more).encode())


def test_only_fields_that_handlers_read_are_stored() -> None:
    assert read(other={"deep": [1, 2]}) == deliveries.DeliveryPayload(
        action="closed",
        installation=deliveries.InstallationPayload(InstallationId(5)),
        repository=deliveries.RepositoryPayload(RepositoryId(7), "main"),
        sender=deliveries.UserPayload(UserId(11), "person-11", "User"),
        pull_request=deliveries.PullRequestPayload(3, "closed", merged=True),
    )


@pytest.mark.parametrize(
    "more",
    [
        {"installation": {"id": "5"}},
        {"installation": {"id": True}},
        {"installation": {"id": 5.0}},
        {"installation": {"id": 0}},
        {"installation": {"id": -5}},
        {"installation": {"id": 2**63}},
        {"installation": {}},
        {"repository": 5},
        {"sender": {"id": 1, "login": None}},
        {"action": ["closed"]},
        {"pull_request": None},
        {"after": "HEAD"},
        {"after": "B" * 40},
        {"after": "b" * 41},
        {"after": "b" * 40 + "\n"},
        {"check_run": {"id": 1}},
    ],
)
def test_a_field_of_another_shape_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(**more)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe{}",
        b"{} {}",
        b'{"a": 01}',
        b'{"a":' * 10**5,
        b"[" * 10**5,
    ],
    ids=lambda body: repr(body[:12]),
)
def test_a_body_that_is_not_a_utf_8_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        deliveries.read(body)


def nested(pairs: int) -> Any:
    deep: Any = 1
    for _ in range(pairs):
        deep = {"a": [deep]}
    return deep


@pytest.mark.parametrize(
    "other",
    [
        str(2**64),
        str(-(2**63) - 1),
        "1e999",
        "-" + "9" * 30,
        "NaN",
        "-Infinity",
        "Infinity",
        "1" + "0" * 400,
        "[" * 65 + "]" * 65,
        "[" * 9000 + "]" * 9000,
    ],
    ids=lambda text: text[:12],
)
def test_unread_parts_stay_within_the_limits_too(other: str) -> None:
    body = json.dumps(WHOLE).encode()[:-1] + b', "other": ' + other.encode() + b"}"
    with pytest.raises(ValueError, match=r"."):
        deliveries.read(body)


def test_input_that_looks_too_large_is_read_if_within_the_limits() -> None:
    """Texts may say anything, and an object in 32 lists is no defect."""
    told = {"a": "NaN, Infinity and 12345678901234567890", "b": "[{" * 90, "c": 2**64 - 1, "d": nested(31)}
    assert read(other=told) == read()
    assert reading.may_be_deep(json.dumps(told).encode())


_SCALARS = st.none() | st.text() | st.integers(-(2**63), 2**64 - 1)


@given(st.recursive(_SCALARS, lambda kids: st.lists(kids) | st.dictionaries(st.text(), kids)))
def test_any_json_within_the_limits_is_accepted(other: Any) -> None:
    assert read(other=other) == read()


def test_half_of_a_surrogate_pair_is_json_and_becomes_a_mark() -> None:
    assert read(title="half \ud800") == read()
    found = deliveries.comment(read(issue={"number": 4}, comment={"id": 1, "body": "/almanac \udc00 me"}), "/almanac")
    assert found.body == "/almanac \ufffd me"


@given(number=st.integers(min_value=1, max_value=2**63 - 1))
def test_ids_of_64_bits_are_read_as_they_are(number: int) -> None:
    place = deliveries.installed_repository(read(installation={"id": number}))
    assert place is not None
    assert place.installation == number


@pytest.mark.parametrize("absent", ["installation", "repository"])
def test_a_delivery_without_installation_or_repository_has_no_target(absent: str) -> None:
    assert deliveries.installed_repository(read(**{absent: None})) is None
