"""What is a writer of texts, and which one is it when none is set up?"""

from __future__ import annotations

from typing import Protocol


class WriterError(Exception):
    """The writer gave no usable answer; the message says why in a few words, without any key or answer text."""


class Writer(Protocol):
    """Answers a fact sheet with sentences. `name` stands in logs and in a dry run."""

    @property
    def name(self) -> str: ...

    async def answer(self, instructions: str, prompt: str) -> str | None:
        """The raw answer to the sheet (JSON text); None from a writer that is off. Raises WriterError."""
        ...


class NoWriter:
    """The writer that is off: texts come from the template alone."""

    name = "template"

    async def answer(self, instructions: str, prompt: str) -> str | None:
        return None


NO_WRITER = NoWriter()
