"""What does authentication cost? A JWT signed with the App's key, which is loaded once."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from benchmarks.speed.table import Measurement, measure_alternately
from bot.github.auth import AppKey
from bot.github.limits import Clock

TIMES = 300
_LATER = 3600.0
"""seconds between two requests for a token: none is cached that long"""


def _pem(key: rsa.RSAPrivateKey) -> bytes:
    private = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, private, serialization.NoEncryption())


def ours(app: AppKey) -> float:
    """Milliseconds of CPU time per token, each newly signed."""

    async def ask() -> None:
        for _ in range(TIMES):
            await app.token()

    begun = time.process_time()
    asyncio.run(ask())
    return (time.process_time() - begun) * 1000 / TIMES


def floor(key: rsa.RSAPrivateKey) -> float:
    """Milliseconds of CPU time per RS256 signature."""
    text = b"x" * 120
    begun = time.process_time()
    for _ in range(TIMES):
        key.sign(text, padding.PKCS1v15(), hashes.SHA256())
    return (time.process_time() - begun) * 1000 / TIMES


def _time_loading(pem: bytes) -> float:
    begun = time.process_time()
    AppKey(7, pem, clock=Clock())
    return (time.process_time() - begun) * 1000


def _hourly_clock() -> Callable[[], float]:
    hours = itertools.count()
    return lambda: next(hours) * _LATER


def rows() -> list[Measurement]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = _pem(key)
    app = AppKey(7, pem, clock=Clock(steady=_hourly_clock()))
    bare, signed = measure_alternately(5, lambda: floor(key), lambda: ours(app))
    note = f"loading the key, once: {_time_loading(pem):.0f} ms"
    return [Measurement("sign a JWT", "its RS256 signature alone", bare, signed, "ms of processor time", note)]
