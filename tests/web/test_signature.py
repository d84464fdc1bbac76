from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.web import signature
from bot.web.signature import Secrets, WeakSecretError, is_well_formed
from tests.web.conftest import OLD_SECRET, SECRET, sign

BODY = b'{"zen": "Keep it logically awesome."}'


def test_the_published_test_vector_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub's own example uses a secret that is shorter than ours may be."""
    monkeypatch.setattr(signature, "SHORTEST_SECRET", 1)
    header = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert Secrets(["It's a Secret to Everybody"]).verify(b"Hello, World!", header)


def test_each_valid_secret_is_accepted() -> None:
    secrets = Secrets([SECRET, OLD_SECRET])
    assert secrets.verify(BODY, sign(BODY, SECRET))
    assert secrets.verify(BODY, sign(BODY, OLD_SECRET))
    assert not secrets.verify(BODY, sign(BODY, "x" * 40))
    assert not Secrets([SECRET]).verify(BODY, sign(BODY, OLD_SECRET))


@pytest.mark.parametrize("secrets", [[], [""], ["short"], [SECRET, ""], [SECRET, "x" * 31]])
def test_the_webhook_needs_a_strong_secret(secrets: list[str]) -> None:
    with pytest.raises(WeakSecretError):
        Secrets(secrets)


def test_a_secret_of_32_characters_is_strong_enough() -> None:
    assert Secrets(["x" * 32]).verify(BODY, sign(BODY, "x" * 32))


def sha1(body: bytes) -> str:
    return hmac.new(SECRET.encode(), body, hashlib.sha1).hexdigest()


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        f"sha1={sha1(BODY)}",
        f"sha256={sha1(BODY)}",
        sign(BODY).upper(),
        sign(BODY).replace("sha256=", "SHA256="),
        sign(BODY).removeprefix("sha256="),
        sign(BODY) + "\n",
        " " + sign(BODY),
        sign(BODY) + "0",
        sign(BODY)[:-1],
        f"sha1={sign(BODY)}",
        sign(BODY) + "," + sign(BODY),
        "sha256=" + "é" * 64,
        "sha256=" + "٣" * 64,
        "sha256=" + "0" * 64,
        sign(BODY, ""),
    ],
)
def test_only_the_right_sha256_signature_is_accepted(header: str | None) -> None:
    assert not Secrets([SECRET]).verify(BODY, header)


@given(st.binary(min_size=1, max_size=200), st.data())
def test_one_flipped_bit_is_refused(body: bytes, data: st.DataObject) -> None:
    bit = data.draw(st.integers(0, len(body) * 8 - 1))
    flipped = bytearray(body)
    flipped[bit // 8] ^= 1 << bit % 8
    secrets = Secrets([SECRET])
    assert secrets.verify(body, sign(body))
    assert not secrets.verify(bytes(flipped), sign(body))


@given(st.text(max_size=80))
def test_any_text_can_be_a_header_without_an_error(header: str) -> None:
    assert not Secrets([SECRET]).verify(BODY, header)
    assert isinstance(is_well_formed(header), bool)


def test_secrets_are_not_printed() -> None:
    assert SECRET not in repr(Secrets([SECRET]))
