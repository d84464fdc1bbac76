"""What is a writer that orders entries, and what replaces it if none is configured?"""

from __future__ import annotations

from typing import Protocol


class WriterError(Exception):
    """The writer gave no usable answer; the message says why in a few words, without any key or answer text."""


class Writer(Protocol):
    """Chooses, orders and groups entries. `name` appears in logs and dry runs."""

    @property
    def name(self) -> str: ...

    async def answer(self, instructions: str, prompt: str) -> str | None:
        """The raw answer to the prompt (JSON text); None from a writer that is off. Raises WriterError."""
        ...


class NoWriter:
    """The writer that is off: the ranking orders the entries."""

    name = "template"

    async def answer(self, instructions: str, prompt: str) -> str | None:
        return None


NO_WRITER = NoWriter()
