"""Are a company's proxy and its own certificates used, for requests and for git?"""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import ipaddress
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from bot.configuration.route import DIRECT, NetworkRoute
from bot.github.transport import Endpoint, Traffic, Transport, open_session
from bot.history.fetching import Clones, FetchError
from bot.model.commit import Repository
from bot.model.ids import RepositoryId
from simulator.server import Simulator
from tests.services.landed import town

HERE = "127.0.0.1"


def own_certificate(folder: Path) -> Path:
    """A certificate for this machine that no system trusts, with its key in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Example Company")])
    today = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(today - dt.timedelta(days=1))
        .not_valid_after(today + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HERE))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = folder / "company.pem"
    file.write_bytes(private + made.public_bytes(Encoding.PEM))
    return file


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    writer.close()


async def join(one: tuple[asyncio.StreamReader, asyncio.StreamWriter], port: int) -> None:
    """Connect a stream with a port of this machine until both ends are closed."""
    reader, writer = await asyncio.open_connection(HERE, port)
    await asyncio.gather(pump(one[0], writer), pump(reader, one[1]))


@contextlib.asynccontextmanager
async def https_in_front_of(port: int, certificate: Path) -> AsyncIterator[int]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(lambda r, w: join((r, w), port), HERE, 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


@contextlib.asynccontextmanager
async def proxy() -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy for HTTPS: its address with a user and password, and the header lines that it saw."""
    seen: list[str] = []

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        seen.extend(head.splitlines())
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await join((reader, writer), int(head.split()[1].rpartition(":")[2]))

    server = await asyncio.start_server(tunnel, HERE, 0)
    async with server:
        yield f"http://ada:hush@{HERE}:{server.sockets[0].getsockname()[1]}", seen


async def ask(address: str, route: NetworkRoute) -> int:
    async with open_session() as session:
        transport = Transport(session, Endpoint(base_url=address, route=route), Traffic())
        status, _, _ = await transport.send("GET", f"{address}/versions", headers={}, body=b"")
    return status


async def test_requests_trust_the_named_certificates_and_pass_the_proxy(tmp_path: Path) -> None:
    certificate = own_certificate(tmp_path)
    async with (
        Simulator() as github,
        https_in_front_of(int(github.url.rpartition(":")[2]), certificate) as port,
        proxy() as (address, seen),
    ):
        url = f"https://{HERE}:{port}"
        with pytest.raises(aiohttp.ClientSSLError):
            await ask(url, DIRECT)
        plain = await ask(github.url, DIRECT)
        assert await ask(url, NetworkRoute(ca_file=str(certificate))) == plain
        assert not seen
        assert await ask(url, NetworkRoute(address, str(certificate))) == plain
    assert seen[0] == f"CONNECT {HERE}:{port} HTTP/1.1"
    assert any(line.startswith("Proxy-Authorization: Basic ") for line in seen)


async def test_git_trusts_the_named_certificates_and_passes_the_proxy(github: Simulator, tmp_path: Path) -> None:
    certificate = own_certificate(tmp_path)
    async with (
        town(github, tmp_path) as there,
        https_in_front_of(int(github.url.rpartition(":")[2]), certificate) as port,
        proxy() as (address, seen),
    ):
        token = await there.bot.context.reader(there.installation.id, there.repository.id).token()
        repository = Repository(there.repository.full_name, RepositoryId(there.repository.id))

        async def fetch(route: NetworkRoute) -> object:
            return await Clones(tmp_path / "clones", f"https://{HERE}:{port}", route).of(repository).refresh(token)

        with pytest.raises(FetchError, match="certificate"):
            await fetch(DIRECT)
        assert await fetch(NetworkRoute(address, str(certificate))) is not None
    assert seen[0] == f"CONNECT {HERE}:{port} HTTP/1.1"


def test_a_route_does_not_show_its_password() -> None:
    assert "hush" not in repr(NetworkRoute("http://ada:hush@proxy.example.com:3128"))
    assert "hush" not in repr(Endpoint(route=NetworkRoute("http://ada:hush@proxy.example.com:3128")))
