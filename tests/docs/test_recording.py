"""Is the recorded terminal one that players and browsers can show, and small?"""

from __future__ import annotations

import json
import re
from html import unescape

from scripts.refresh_recording import COLUMNS, IMAGES, ROWS, Printed, cast, picture

LINES = [json.loads(line) for line in (IMAGES / "demo.cast").read_text("utf-8").splitlines()]
PRINTED = [Printed(at, text.removesuffix("\r\n")) for at, _, text in LINES[1:]]


def test_the_recording_is_an_asciicast_of_both_commands() -> None:
    head, *events = LINES
    assert (head["version"], head["width"], head["height"]) == (2, COLUMNS, ROWS)
    assert [at for at, _, _ in events] == sorted(at for at, _, _ in events)
    assert {kind for _, kind, _ in events} == {"o"}
    typed = [line.text for line in PRINTED if line.text.startswith("$ ")]
    assert [words.split()[2] for words in typed] == ["demo", "profile"]
    assert max(len(line.text) for line in PRINTED) <= COLUMNS


def test_the_picture_shows_the_same_lines_loads_nothing_and_is_small() -> None:
    drawn = (IMAGES / "demo.svg").read_text("utf-8")
    assert len(drawn) < 32_000
    texts = [unescape(text) for text in re.findall(r"<text [^>]*>([^<]*)</text>", drawn)]
    assert texts == [line.text for line in PRINTED]
    assert drawn == picture(PRINTED)
    assert "prefers-reduced-motion" in drawn
    assert not any(word in drawn for word in ("<script", "<image", "@import", "url("))


def test_what_is_recorded_survives_the_files() -> None:
    assert [json.loads(line) for line in cast(PRINTED).splitlines()] == LINES
