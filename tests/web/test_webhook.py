from __future__ import annotations

import asyncio
import gzip
import random
from typing import Any
from urllib.parse import quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.web.failures import FailureLimiter
from bot.web.peers import KnownSenders
from handlers import ROUTERS
from tests.web.conftest import GUID, OLD_SECRET, House, MakeHouse, encode, push, sign

BODY = encode(push())
LANDING = (
    "record_landing",
    {"installation": 5, "repository": 7, "delivery": GUID, "before": "a" * 40, "after": "b" * 40},
)


async def test_a_signed_delivery_is_stored_before_it_is_acknowledged(house: House) -> None:
    assert await house.send(BODY) == 202
    (delivery,) = house.inbox.kept.values()
    assert delivery.body == BODY
    assert (delivery.hook, delivery.event) == ("app:99", "push")
    assert (delivery.installation, delivery.repository) == (5, 7)
    assert house.inbox.jobs == [LANDING]


async def test_a_delivery_received_twice_is_stored_once(house: House) -> None:
    assert [await house.send(BODY), await house.send(BODY)] == [202, 202]
    assert len(house.inbox.kept) == 1


async def test_a_hook_of_another_kind_has_its_own_key(house: House) -> None:
    repository_hook: Any = {"X_GitHub_Hook_Installation_Target_Type": "repository", "X_GitHub_Hook_ID": "321"}
    assert [await house.send(BODY), await house.send(BODY, **repository_hook)] == [202, 202]
    assert {hook for hook, _ in house.inbox.kept} == {"app:99", "hook:321"}


async def test_both_secrets_are_valid_while_they_are_changed(house: House) -> None:
    assert await house.send(BODY, X_Hub_Signature_256=sign(BODY, OLD_SECRET)) == 202


async def test_every_flipped_bit_of_a_body_is_refused(make_house: MakeHouse) -> None:
    house, chance = await make_house(), random.Random(7)
    for position in chance.sample(range(len(BODY) * 8), 200):
        flipped = bytearray(BODY)
        flipped[position // 8] ^= 1 << position % 8
        assert await house.send(bytes(flipped), X_Hub_Signature_256=sign(BODY)) == 403
    assert house.inbox.kept == {}


@pytest.mark.parametrize("header", [None, "", "sha1=" + "0" * 40, "sha256=" + "0" * 64, "sha256=x"])
async def test_an_unsigned_delivery_is_refused(house: House, header: str | None) -> None:
    assert await house.send(BODY, X_Hub_Signature_256=header) == 403
    assert house.inbox.kept == {}


async def test_a_sha1_signature_without_a_sha256_one_is_refused(house: House) -> None:
    assert await house.send(BODY, X_Hub_Signature_256=None, X_Hub_Signature="sha1=" + "0" * 40) == 403


@pytest.mark.parametrize("encoding", ["gzip", "identity", "br", ""])
async def test_any_content_encoding_is_refused(house: House, encoding: str) -> None:
    body = gzip.compress(BODY)
    assert await house.send(body, Content_Encoding=encoding) == 415
    assert house.inbox.kept == {}


async def test_a_delivery_of_20_megabytes_is_handled(house: House) -> None:
    body = encode(push(commits=["x" * 1000] * 20_000))
    assert len(body) > 20_000_000
    assert await house.send(body) == 202
    assert house.inbox.jobs == [LANDING]


async def test_a_body_above_the_limit_is_refused(make_house: MakeHouse) -> None:
    house = await make_house(largest=1000)
    assert await house.send(encode(push(x="y" * 1000))) == 413


async def test_a_body_without_a_content_length_is_measured(make_house: MakeHouse) -> None:
    house = await make_house(largest=1000)

    async def chunks() -> Any:
        for _ in range(50):
            yield b"x" * 100

    headers = {"X-Hub-Signature-256": sign(b"")}
    async with house.session.post(house.url, data=chunks(), headers=headers) as response:
        assert response.status == 413


async def test_a_slow_body_is_given_up(make_house: MakeHouse) -> None:
    house = await make_house(body_seconds=0.05)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(house.url.split(":")[2].split("/")[0]))
    head = f"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\nX-Hub-Signature-256: {sign(b'')}\r\n\r\n{{"
    writer.write(head.encode())
    assert b" 408 " in await reader.readline()
    writer.close()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe{}",
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b'{"action": ["closed"]}',
        b'{"action": {"a": 1}}',
        b"{}",
        encode(push(after="HEAD")),
        encode(push(after="B" * 40)),
        encode(push(repository=5)),
        encode(push(installation={"id": "5"})),
        encode(push(installation={"id": True})),
        encode(push(installation={"id": -1})),
        encode(push(sender={"id": 1, "login": None})),
    ],
)
async def test_a_signed_body_that_is_not_a_delivery_is_refused(house: House, body: bytes) -> None:
    for event in ("push", "pull_request"):
        status = await house.send(body, event=event)
        assert status in (400, 202)
        assert status == 400 or event == "pull_request" or body == b"{}"
    assert house.inbox.kept == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X_GitHub_Event", None),
        ("X_GitHub_Event", ""),
        ("X_GitHub_Event", "../push"),
        ("X_GitHub_Event", "x" * 65),
        ("X_GitHub_Delivery", None),
        ("X_GitHub_Delivery", "'; drop table"),
        ("X_GitHub_Delivery", "x" * 65),
    ],
)
async def test_headers_that_github_never_sends_are_refused(house: House, name: str, value: str | None) -> None:
    changed: Any = {name: value}
    assert await house.send(BODY, **changed) == 400
    assert house.inbox.kept == {}


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "text/plain", "application/json; charset=klingon", "x", None]
)
async def test_another_content_type_is_refused(house: House, kind: str | None) -> None:
    assert await house.send(BODY, Content_Type=kind) == 415


async def test_a_form_encoded_delivery_is_refused_with_a_line_that_says_what_to_change(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    body = b"payload=" + quote_plus(BODY).encode()
    assert await house.send(body, Content_Type="application/x-www-form-urlencoded") == 415
    assert house.inbox.kept == {}
    assert "set the hook to application/json" in caplog.text


async def test_an_unhandled_event_is_acknowledged_unread(house: House) -> None:
    assert await house.send(b"no JSON at all", event="watch") == 202
    assert house.inbox.kept == {}


async def test_a_delivery_without_work_is_acknowledged_and_not_stored(house: House) -> None:
    assert await house.send(encode(push(ref="refs/heads/topic"))) == 202
    assert house.inbox.kept == {}


async def test_events_caused_by_the_app_are_dropped(house: House) -> None:
    us = {"id": 1, "login": "almanac[bot]", "type": "Bot"}
    assert await house.send(encode(push(sender=us))) == 202
    assert house.inbox.kept == {}


async def test_work_pushed_by_another_bot_counts(house: House) -> None:
    merge_bot = {"id": 1, "login": "merge-queue[bot]", "type": "Bot"}
    assert await house.send(encode(push(sender=merge_bot))) == 202
    assert house.inbox.jobs == [LANDING]


@pytest.mark.parametrize("fault", [OSError("disk full"), RuntimeError("locked"), TimeoutError(), KeyError("x")])
async def test_a_delivery_that_cannot_be_stored_is_not_acknowledged(house: House, fault: Exception) -> None:
    house.inbox.fault = fault
    assert await house.send(BODY) == 503
    house.inbox.fault = None
    assert await house.send(BODY) == 202


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
async def test_only_post_is_answered(house: House, method: str) -> None:
    async with house.session.request(method, house.url) as response:
        assert response.status == 405


async def test_too_many_bodies_at_once_are_put_off(make_house: MakeHouse) -> None:
    house = await make_house(most_held=0)
    assert await house.send(BODY) == 202
    first, release = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        first.set()
        await release.wait()

    house.inbox.wait = hold
    waiting = asyncio.create_task(house.send(BODY))
    await first.wait()
    assert await house.send(BODY) == 429
    release.set()
    assert await waiting == 202
    assert await house.send(BODY) == 202


# --- addresses -------------------------------------------------------------------------------------------------------


def by_header(request: Any) -> str:
    return str(request.headers.get("X-Test-Address", "198.51.100.1"))


async def test_an_address_with_too_many_failures_is_blocked(make_house: MakeHouse) -> None:
    house = await make_house(address=by_header)
    wrong = "sha256=" + "0" * 64
    statuses = [await house.send(BODY, X_Hub_Signature_256=wrong) for _ in range(22)]
    assert statuses == [403] * 20 + [429] * 2
    assert await house.send(BODY, X_Test_Address="198.51.100.2") == 202


async def test_an_address_with_a_valid_signature_is_never_blocked(make_house: MakeHouse) -> None:
    house = await make_house(address=by_header)
    assert await house.send(BODY) == 202
    for _ in range(30):
        assert await house.send(BODY, X_Hub_Signature_256="sha256=" + "0" * 64) == 403
    assert await house.send(BODY) == 202


def test_failures_expire_after_a_minute() -> None:
    now = 0.0
    limiter = FailureLimiter(2, known=KnownSenders(), timer=lambda: now)
    limiter.record_failure("a")
    limiter.record_failure("a")
    assert limiter.refuses("a")
    now = 61.0
    assert not limiter.refuses("a")


async def test_a_private_address_represents_everybody_behind_a_proxy(house: House) -> None:
    wrong = "sha256=" + "0" * 64
    assert {await house.send(BODY, X_Hub_Signature_256=wrong) for _ in range(30)} == {403}
    assert await house.send(BODY, X_Forwarded_For="198.51.100.9") == 202


# --- fuzz ------------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
KEY_NAMES = """
action installation repository id sender ref before after pull_request number state comment issue body check_run
check_suite head_sha app login type default_branch requested_action identifier hook events
"""
KEYS = st.sampled_from(KEY_NAMES.split())
EVENTS = st.sampled_from(sorted(ROUTERS))
ACTIONS = st.sampled_from(
    ["closed", "created", "completed", "submitted", "rerequested", "requested_action", "revoked", "added", "renamed"]
)
LEAVES = JSON | ACTIONS | st.just(5) | st.just("a" * 40) | st.just("closed")
PAYLOADS = st.dictionaries(
    KEYS,
    LEAVES | st.dictionaries(KEYS, LEAVES | st.dictionaries(KEYS, LEAVES, max_size=4), max_size=6),
    max_size=9,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(event=EVENTS, action=ACTIONS, payload=PAYLOADS)
async def test_no_signed_shape_is_answered_with_an_error_of_ours(
    house: House, event: str, action: str, payload: dict[str, Any]
) -> None:
    body = encode({"action": action} | payload)
    assert await house.send(body, event=event) in (202, 400)


HEADER_TEXT = st.text(
    alphabet=st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=30
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    headers=st.dictionaries(
        st.sampled_from(
            ["X_GitHub_Event", "X_GitHub_Delivery", "X_Hub_Signature_256", "Content_Type", "X_GitHub_Hook_ID", "Accept"]
        ),
        HEADER_TEXT,
    ),
    body=st.binary(max_size=40),
)
async def test_no_headers_and_bytes_are_answered_with_an_error_of_ours(
    house: House, headers: dict[str, str], body: bytes
) -> None:
    status = await house.send(body, **headers)
    assert status == 202 or 400 <= status < 500
    if "X_Hub_Signature_256" in headers:
        assert status == 403


# --- bodies that arrive slowly ---------------------------------------------------------------------------------------


def half_delivery(announced: int, body: bytes) -> bytes:
    head = (
        f"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: {announced}\r\nX-Hub-Signature-256: {sign(b'')}\r\n\r\n"
    )
    return head.encode() + body


async def open_to(house: House) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", int(house.url.split(":")[2].split("/")[0]))


async def test_an_announced_length_reserves_nothing(make_house: MakeHouse) -> None:
    house = await make_house(most_unknown=1000)
    held = [await open_to(house) for _ in range(30)]
    for _, writer in held:
        writer.write(half_delivery(26_000_000, b"x"))
    assert await house.send(BODY) == 202
    for _, writer in held:
        writer.close()


async def test_the_oldest_body_is_dropped_when_strangers_hold_too_many_bytes(make_house: MakeHouse) -> None:
    house = await make_house(most_unknown=1000)
    held = [await open_to(house) for _ in range(3)]
    for reader, writer in held[:2]:
        writer.write(half_delivery(26_000, b"x" * 400))
        await asyncio.sleep(0.02)
        assert not reader.at_eof()
    held[2][1].write(half_delivery(26_000, b"x" * 400))
    assert b" 429 " in await held[0][0].readline()
    assert await house.send(BODY) == 202
    for _, writer in held:
        writer.close()


async def test_strangers_bytes_are_counted_apart_from_known_senders(make_house: MakeHouse) -> None:
    house = await make_house(most_unknown=1000)
    large = encode(push(commits=["x" * 1000] * 300))
    assert await house.send(large) == 429, "a first delivery above the strangers' memory is refused"
    assert await house.send(BODY) == 202
    assert await house.send(large) == 202, "and accepted from a sender who signs"
