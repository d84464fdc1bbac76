"""How long does it take until a command prints, until the bot serves, and until a token is signed?"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from benchmarks.speed.table import Measurement, measure_alternately


def _compiled_environment() -> dict[str, str]:
    """The environment of a command with compiled modules, like those of an installed package."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _seconds(*arguments: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=_compiled_environment())
    return time.perf_counter() - begun


def private_key() -> str:
    """A new RSA key as PEM."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, plain).decode()


def _time_serve(pem: str) -> float:
    """Seconds until the first answer of `almanac serve` on a new SQLite database, without access to GitHub."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        settings = {
            "ALMANAC_APP_ID": "1",
            "ALMANAC_PRIVATE_KEY": pem,
            "ALMANAC_WEBHOOK_SECRET": secrets.token_hex(20),
            "ALMANAC_GITHUB_URL": "http://127.0.0.1:9",
            "ALMANAC_DATA": folder,
            "ALMANAC_PORT": str(port),
        }
        quiet = subprocess.DEVNULL
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "bot", "serve"], env=_compiled_environment() | settings, stdout=quiet, stderr=quiet
        )
        try:
            _until_answered(f"http://127.0.0.1:{port}/healthz", process)
            return time.perf_counter() - begun
        finally:
            process.terminate()
            process.wait(30)


def _until_answered(address: str, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=5).close()  # noqa: S310  # our own address
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("almanac serve ended before it answered")


def _tokens(pem: str) -> tuple[float, float]:
    """Milliseconds to sign: PyJWT from PEM, and the bot's own method."""
    import jwt
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    claims = {"iss": "1", "iat": int(time.time()), "exp": int(time.time()) + 540}
    key = load_pem_private_key(pem.encode(), None)

    def each(given: object, times: int) -> float:
        begun = time.perf_counter()
        for _ in range(times):
            jwt.encode(claims, given, algorithm="RS256")  # type: ignore[arg-type]  # both are keys to it
        return (time.perf_counter() - begun) / times * 1000

    floor, ours = measure_alternately(3, lambda: each(pem, 10), lambda: each(key, 100))
    return floor, ours


def rows() -> list[Measurement]:
    pem = private_key()
    _time_serve(pem)  # compiles changed modules
    helped = measure_alternately(5, lambda: _seconds("-c", "import aiohttp"), lambda: _seconds("-m", "bot", "--help"))
    served = measure_alternately(3, lambda: _seconds("-c", "import aiohttp"), lambda: _time_serve(pem))
    floor_name = "import aiohttp"
    return [
        Measurement("almanac --help", floor_name, *helped, "s"),
        Measurement("almanac serve answers, new database", floor_name, *served, "s"),
        Measurement("sign an App token, key loaded once", "PyJWT from PEM each time", *_tokens(pem), "ms"),
    ]
