"""How git's patch text of one commit becomes `FileChange`s: as any patch text does."""

from __future__ import annotations

from bot.landing.diff import read_diff, read_file, unquote

__all__ = ["read_diff", "read_file", "unquote"]
