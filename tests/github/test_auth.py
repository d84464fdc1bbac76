from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from gidgethub import BadRequest

from bot.github.auth import AppKey, BadKeyError, InstallationClosed, NotGranted, Tokens, TokenScope
from bot.github.connection import Connection, Surroundings
from bot.github.limits import Limited
from bot.github.operations import APP, CREATE_CHECK_RUN, REPOSITORY, Operation
from bot.github.payloads.reading import PayloadError
from bot.github.transport import Endpoint, open_session
from bot.model.ids import InstallationId, RepositoryId
from tests.github.conftest import Script, TestClock, ok, refused

HERE = InstallationId(5)
EPOCH = 1_700_000_000


def iso(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z")


class Mint:
    """Mints numbered tokens that live an hour, and remembers what was asked."""

    def __init__(self, time_passing: TestClock) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self._time = time_passing
        self.life = 3600

    async def write(self, operation: Operation, body: Mapping[str, Any] | None = None, **variables: Any) -> Any:
        await asyncio.sleep(0)
        self.asked.append({**variables, **(body or {})})
        return {"token": f"ghs_{len(self.asked)}", "expires_at": iso(EPOCH + self._time.now + self.life)}


async def test_the_app_signs_with_its_id_as_text(
    pem: bytes, private_key: rsa.RSAPrivateKey, time_passing: TestClock
) -> None:
    signed = await AppKey(99, pem, clock=time_passing.clock()).token()
    claims = jwt.decode(
        signed, private_key.public_key(), algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
    )
    now = EPOCH + int(time_passing.now)
    assert claims["iss"] == "99"
    assert claims["iat"] == now - 60
    assert now < claims["exp"] <= now + 600 - 60, "valid although GitHub's clock is a minute behind"


async def test_a_signature_is_used_again_for_five_minutes(pem: bytes, time_passing: TestClock) -> None:
    key = AppKey("99", pem, clock=time_passing.clock())
    first = await key.token()
    time_passing.now += 299
    assert await key.token() == first
    time_passing.now += 2
    assert await key.token() != first


async def test_a_refused_signature_is_created_again(pem: bytes, time_passing: TestClock) -> None:
    key = AppKey("99", pem, clock=time_passing.clock())
    first = await key.token()
    time_passing.now += 5
    assert key.refuse(first)
    assert await key.token() != first


@pytest.mark.parametrize("pem", [b"", b"no key", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----"])
def test_an_invalid_key_is_reported_in_one_line(pem: bytes | str, time_passing: TestClock) -> None:
    with pytest.raises(BadKeyError, match="PEM"):
        AppKey("99", pem, clock=time_passing.clock())


def test_a_key_of_another_kind_is_refused(time_passing: TestClock) -> None:
    curve = ec.generate_private_key(ec.SECP256R1())
    pem = curve.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with pytest.raises(BadKeyError, match="RSA"):
        AppKey("99", pem, clock=time_passing.clock())


async def test_a_token_is_narrowed_to_repositories_and_permissions(time_passing: TestClock) -> None:
    mint = Mint(time_passing)
    scope = TokenScope.of(HERE, repositories=(RepositoryId(9), RepositoryId(7)), permissions={"contents": "read"})
    await Tokens(lambda _: mint, clock=time_passing.clock()).get(scope)
    assert mint.asked == [{"installation": 5, "repository_ids": [7, 9], "permissions": {"contents": "read"}}]


async def test_a_token_is_minted_once_for_many_who_ask(time_passing: TestClock) -> None:
    mint = Mint(time_passing)
    tokens = Tokens(lambda _: mint, clock=time_passing.clock())
    got = await asyncio.gather(*(tokens.get(TokenScope.of(HERE)) for _ in range(50)))
    assert set(got) == {"ghs_1"}
    assert len(mint.asked) == 1


async def test_other_scopes_have_other_tokens(time_passing: TestClock) -> None:
    mint = Mint(time_passing)
    tokens = Tokens(lambda _: mint, clock=time_passing.clock())
    scopes = [
        TokenScope.of(HERE),
        TokenScope.of(InstallationId(6)),
        TokenScope.of(HERE, repositories=(RepositoryId(7),)),
        TokenScope.of(HERE, repositories=(RepositoryId(7),), permissions={"checks": "write"}),
        TokenScope.of(HERE, repositories=(RepositoryId(7),), permissions={"checks": "read"}),
    ]
    assert len({await tokens.get(scope) for scope in scopes}) == 5


async def test_a_token_is_replaced_two_minutes_before_it_ends(time_passing: TestClock) -> None:
    mint = Mint(time_passing)
    tokens = Tokens(lambda _: mint, clock=time_passing.clock())
    assert await tokens.get(TokenScope.of(HERE)) == "ghs_1"
    time_passing.now += 3600 - 121
    assert await tokens.get(TokenScope.of(HERE)) == "ghs_1"
    time_passing.now += 2
    assert await tokens.get(TokenScope.of(HERE)) == "ghs_2"


async def test_a_token_that_github_gives_for_ten_minutes_is_replaced_after_eight(time_passing: TestClock) -> None:
    mint = Mint(time_passing)
    mint.life = 600
    tokens = Tokens(lambda _: mint, clock=time_passing.clock())
    assert await tokens.get(TokenScope.of(HERE)) == "ghs_1"
    time_passing.now += 479
    assert await tokens.get(TokenScope.of(HERE)) == "ghs_1"
    time_passing.now += 2
    assert await tokens.get(TokenScope.of(HERE)) == "ghs_2"


async def test_a_rejected_token_is_replaced_once(time_passing: TestClock) -> None:
    mint = Mint(time_passing)
    tokens = Tokens(lambda _: mint, clock=time_passing.clock())
    scope = TokenScope.of(HERE)
    old = await tokens.get(scope)
    tokens.forget(scope, old)
    assert await tokens.get(scope) == "ghs_2"
    tokens.forget(scope, old)
    assert await tokens.get(scope) == "ghs_2", "a late refusal of the old token leaves the new one"


@pytest.mark.parametrize("wrong", [{}, {"token": 5, "expires_at": "2030-01-01T00:00:00Z"}, {"token": "x"}, [], None])
async def test_a_response_without_a_token_is_reported(wrong: Any, time_passing: TestClock) -> None:
    class Wrong:
        async def write(self, *_: Any, **__: Any) -> Any:
            return wrong

    with pytest.raises(PayloadError):
        await Tokens(lambda _: Wrong(), clock=time_passing.clock()).get(TokenScope.of(HERE))


def connect(script: Script, session: Any, pem: bytes, time_passing: TestClock) -> Connection:
    around = Surroundings(endpoint=Endpoint(script.url), clock=time_passing.clock())
    return Connection(session, app_id=99, private_key=pem, surroundings=around)


MINT_PATH = "/app/installations/5/access_tokens"


async def test_an_installation_is_reached_with_its_own_token(
    script: Script, pem: bytes, time_passing: TestClock
) -> None:
    script.on(MINT_PATH, ok({"token": "ghs_99_a.b-c", "expires_at": iso(EPOCH + 4600)}, status=201))
    script.on("/repositories/7", {"id": 7})
    async with open_session() as session:
        there = connect(script, session, pem, time_passing)
        client = there.installation(HERE, repositories=(RepositoryId(7),), permissions={"metadata": "read"})
        await client.read(REPOSITORY, repository="repositories/7")
        await client.read(REPOSITORY, repository="repositories/7")
        assert there.traffic.requests == 3
    assert script.seen[0].json == {"repository_ids": [7], "permissions": {"metadata": "read"}}
    assert script.seen[0].headers["authorization"].startswith("Bearer eyJ")
    assert [one.headers["authorization"] for one in script.seen[1:]] == ["Bearer ghs_99_a.b-c"] * 2


@pytest.mark.parametrize(("status", "deleted"), [(403, False), (404, True)])
async def test_a_closed_installation_is_reported_as_closed(
    script: Script, pem: bytes, time_passing: TestClock, *, status: int, deleted: bool
) -> None:
    script.on(MINT_PATH, refused(status, "This installation has been suspended"))
    async with open_session() as session:
        client = connect(script, session, pem, time_passing).installation(HERE)
        with pytest.raises(InstallationClosed) as told:
            await client.read(REPOSITORY, repository="repositories/7")
    assert (told.value.deleted, told.value.installation) == (deleted, HERE)
    assert script.paths() == [f"POST {MINT_PATH}"]


async def test_missing_permissions_are_reported_as_such(script: Script, pem: bytes, time_passing: TestClock) -> None:
    script.on(MINT_PATH, refused(422, "not accessible"))
    async with open_session() as session:
        with pytest.raises(NotGranted):
            await connect(script, session, pem, time_passing).installation(HERE).read(REPOSITORY, repository="x")


async def test_a_revoked_token_is_replaced_and_the_request_repeated(
    script: Script, pem: bytes, time_passing: TestClock
) -> None:
    first, second = ({"token": f"ghs_{n}", "expires_at": iso(EPOCH + 4600)} for n in (1, 2))
    script.on(MINT_PATH, first, second)
    script.on("/repositories/7", refused(401), {"id": 7})
    async with open_session() as session:
        client = connect(script, session, pem, time_passing).installation(HERE)
        assert await client.read(REPOSITORY, repository="repositories/7") == {"id": 7}
    assert script.seen[-1].headers["authorization"] == "Bearer ghs_2"


async def test_a_refused_jwt_is_an_error_after_one_more_try(
    script: Script, pem: bytes, time_passing: TestClock
) -> None:
    script.on(MINT_PATH, refused(401))
    async with open_session() as session:
        with pytest.raises(BadRequest):
            await connect(script, session, pem, time_passing).installation(HERE).read(REPOSITORY, repository="x")
    assert len(script.seen) == 2


async def test_one_installation_keeps_one_lane_and_cache(script: Script, pem: bytes, time_passing: TestClock) -> None:
    for number in (5, 6):
        token = {"token": f"ghs_{number}", "expires_at": iso(EPOCH + 4600)}
        script.on(f"/app/installations/{number}/access_tokens", ok(token, status=201))
    script.on("/repositories/7", ok({"id": 7}, etag='"one"'))
    script.on("/repositories/7/check-runs", ok({"id": 1}))
    async with open_session() as session:
        there = connect(script, session, pem, time_passing)
        known, waited = [], []
        for number in (5, 5, 6):
            client, begun = there.installation(InstallationId(number)), time_passing.now
            await client.read(REPOSITORY, repository="repositories/7")
            known.append("if-none-match" in script.seen[-1].headers)
            await client.write(CREATE_CHECK_RUN, {"name": "x"}, repository="repositories/7")
            waited.append(time_passing.now > begun)
    assert known == [False, True, False], "an answer is kept for its installation"
    assert waited == [False, True, False], "writes of one installation keep apart"


async def test_a_pause_that_github_demands_of_the_app_holds_for_the_tokens_of_all_installations(
    script: Script, pem: bytes, time_passing: TestClock
) -> None:
    minted: list[float] = []

    async def mint(request: web.Request) -> web.StreamResponse:
        minted.append(time_passing.now)
        return ok({"token": "ghs_6", "expires_at": iso(EPOCH + 4600)}, status=201)

    script.on(MINT_PATH, refused(403, "You have exceeded a secondary rate limit", retry_after="300"))
    script.on("/app/installations/6/access_tokens", mint)
    script.on("/app/installations/7/access_tokens", mint)
    script.on("/repositories/7", {"id": 7})
    async with open_session() as session:
        there = connect(script, session, pem, time_passing)
        begun = time_passing.now
        for number in (5, 6):
            with pytest.raises(Limited):
                await there.installation(InstallationId(number)).read(REPOSITORY, repository="repositories/7")
        with pytest.raises(Limited):
            await there.app.read(APP)
        assert len(script.seen) == 1, "nothing was sent as the App during the pause"
        time_passing.now += 250
        await there.installation(InstallationId(6)).read(REPOSITORY, repository="repositories/7")
        await there.installation(InstallationId(7)).read(REPOSITORY, repository="repositories/7")
    assert minted == [begun + 300] * 2


async def test_a_pause_of_one_installation_holds_for_no_other(
    script: Script, pem: bytes, time_passing: TestClock
) -> None:
    for number in (5, 6):
        token = ok({"token": f"ghs_{number}", "expires_at": iso(EPOCH + 4600)}, status=201)
        script.on(f"/app/installations/{number}/access_tokens", token)
    script.on("/repositories/7", refused(403, "You have exceeded a secondary rate limit", retry_after="300"))
    script.on("/repositories/8", {"id": 8})
    async with open_session() as session:
        there = connect(script, session, pem, time_passing)
        with pytest.raises(Limited):
            await there.installation(HERE).read(REPOSITORY, repository="repositories/7")
        begun = time_passing.now
        await there.installation(InstallationId(6)).read(REPOSITORY, repository="repositories/8")
    assert time_passing.now == begun
