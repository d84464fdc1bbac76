"""Which of several ways to begin is not taken by another text of the same digest?"""

from __future__ import annotations

from collections.abc import Collection, Sequence

WORDS = 3


def opener(text: str) -> str:
    """The first words of a text after its "<Month> <Year>, <repositories>:", in lower case: what may not be alike."""
    _, found, after = text.partition(": ")
    body = after if found and "," in text.partition(": ")[0] else text
    return " ".join(body.lower().split()[:WORDS]).strip(".,;:“”")


def choose(texts: Sequence[str], used: Collection[str]) -> str:
    """The first text whose opener is free, else the first."""
    return next((text for text in texts if opener(text) not in used), texts[0])
