"""Who signed this text? Ed25519 keys: this installation's own in a file, and any public key for checking."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from bot.configuration.redaction import Redacted, Secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class SigningKey(Redacted, frozen=True):
    """A key that signs. `id` identifies it for verifiers: the hash of its public half."""

    key: Secret[Ed25519PrivateKey]
    public: bytes
    """its public half, 32 bytes"""
    older: tuple[bytes, ...] = ()
    """public halves of keys that signed before and are still published, newest first"""

    @property
    def id(self) -> str:
        return _key_id(self.public)

    def sign(self, text: str) -> str:
        """The signature of a text's UTF-8 bytes, in base64."""
        return base64.b64encode(self.key.sign(text.encode())).decode()

    def public_entries(self) -> list[dict[str, str]]:
        """This key and the older ones, as published at the well-known address."""
        return [
            {"kind": "Ed25519", "id": _key_id(one), "public_key": base64.b64encode(one).decode()}
            for one in (self.public, *self.older)
        ]


def _key_id(public: bytes) -> str:
    return hashlib.sha256(public).hexdigest()[:16]


def signing_key(path: Path) -> SigningKey:
    """The key in this file, created if missing, readable only by its owner. Raises ValueError if it is invalid."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not path.exists():
        pem = Ed25519PrivateKey.generate().private_bytes(
            form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
        )
        write_once(path, pem)
    try:
        return read_signing_key(read_private(path))
    except ValueError as error:
        raise ValueError(f"{path} {error}") from None


def read_signing_key(pem: bytes) -> SigningKey:
    """The private key in PEM text, and the public keys in it, which signed before.

    Raises ValueError with the end of a sentence, which never quotes the text.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    blocks = _PEM_BLOCK.findall(pem)
    private = [block for block, label in blocks if label.endswith(b"PRIVATE KEY")]
    if len(private) > 1:
        raise ValueError("contains several private keys: keep only the public halves of older ones")
    try:
        key = form.load_pem_private_key(private[0] if private else b"", password=None)
    except TypeError:
        raise ValueError("contains a key with a password: remove the password") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("contains no readable private key") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("contains a key that is not Ed25519")
    older = tuple(_read_public(block) for block, label in blocks if label == b"PUBLIC KEY")
    return SigningKey(key, key.public_key().public_bytes_raw(), older)


def _read_public(pem: bytes) -> bytes:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = form.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError("contains a public key that is not readable") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("contains a public key that is not Ed25519")
    return key.public_bytes_raw()


_PEM_BLOCK = re.compile(rb"(-----BEGIN ([A-Z0-9 ]{1,40})-----[^-]{0,10000}-----END \2-----)")

_PUBLIC_BITS = 0o077
OPEN_TO_OTHERS = "can be read by other users of this machine"


def is_open_to_others(path: Path) -> bool:
    """Whether anybody but its owner has access to the file. Windows has no such modes."""
    return os.name != "nt" and bool(path.stat().st_mode & _PUBLIC_BITS)


def read_private(path: Path) -> bytes:
    """The content of a secret's file. Raises ValueError, with the end of a sentence, if others can read it too."""
    if is_open_to_others(path):
        raise ValueError(f"{OPEN_TO_OTHERS}: chmod 600 {path}")
    return path.read_bytes()


def write_once(path: Path, content: bytes) -> None:
    """Write a secret's file, readable only by its owner; an existing file is not changed.

    It is written under a temporary name and then linked: if two processes start together, both use the same secret.
    """
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # A random name: in containers every process has the same id, and a killed one may have left its file.
    descriptor, temporary = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)  # a key truncated by a power failure would be easy to guess
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)


def is_signed(text: str, signature: str, public_key: str) -> bool:
    """Whether the signature (base64) of this text was made by the owner of the public key (base64)."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        key.verify(base64.b64decode(signature, validate=True), text.encode())
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return True
