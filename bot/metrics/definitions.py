"""What else is measured besides the numbers? Kinds, items, scores and everything with its own section on a page.

People edit `definitions.toml`; `scripts/refresh_tables.py` writes it as JSON, which is read twenty times as fast.
"""

from __future__ import annotations

import msgspec

from bot.configuration.package_files import read_bytes
from bot.metrics.metric import Definition

DEFINITIONS = msgspec.json.decode(read_bytes("bot.metrics", "definitions.json"), type=tuple[Definition, ...])
"""all definitions, in display order"""
SCORES = tuple(one for one in DEFINITIONS if one.function == "bot.metrics.quality:rate")
"""what happened to a person's lines, in display order"""
