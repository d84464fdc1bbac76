"""Which titles are only counted, by which rule, and which are not caught?"""

from __future__ import annotations

import pytest

from bot.narrative.cleaning import clean
from bot.narrative.never_quoted import REASONS, reason_not_to_quote

CAUGHT: dict[str, tuple[str, ...]] = {
    "a release or a version bump": (
        "Release 1.2.3",
        "chore: prepare engine v0.3.5 release (#3)",
        "Bump version to 2.0",
        "Engine 4.7.2 release notes",
        "Cut v0.26.0 rc.0",
    ),
    "a dependency update": ("Bump ruff from 1.2 to 1.3", "chore(deps): update the dependencies", "Upgrade mypy to 1.5"),
    "a merge": ("Merge branch 'main' into topic", "Merged the parser branch of Ada", "Update base with master"),
    "a revert": (
        'Revert "Add the reader to main"',
        '[release/2.1] Revert "Add the reader"',
        "Backport to 2.x: revert the new reader",
        "rt: revert the sharded timer work",
        "Back out the new reader for main",
    ),
    "unfinished work": ("WIP: new reader for headers", "fixup! Add the reader to main", "Add the reader [WIP]"),
    "no statement": (
        "Address review comments",
        "fix some typos",
        "Fix lint errors",
        "more doc fixes",
        "minor cleanups",
        "More fixes for engine",
        "Fix small typo in Readme",
        "Commit missing changes",
    ),
    "first person": ("Explain why we read twice", "Remove the code that I wrote", "Use my own reader here"),
    "a joke": ("Whoops, restore the reader config", "fix the pesky reader of headers"),
    "an exclamation, a question or dots": (
        "Add a first reader plugin!",
        "Improve the detection so ...",
        "Why read twice?",
    ),
    "working talk": (
        "Fix the reader again",
        "Finally support the reader",
        "Attempt to fix the reader",
        "Get CI passing",
        "Clicking version - still missing frames",
        "Fix the cache issues, see below",
        "This is #127 but only with the reader",
    ),
    "a move, a rename or a regeneration": (
        "Move the reader to io",
        "Rename Reader to Input",
        "Regenerate the tables of x",
    ),
    "formatting or imports": ("Run black on everything", "Remove unused imports here", "Format code with prettier"),
    "a text that leans on its neighbour": (
        "Same for colours and borders",
        "Also support frames with a mask",
        "dev: ditto for the columns of the table",
        "As above, with the lines of a file",
        "Likewise for the reader of headers",
    ),
    "machine-written": (
        "Update docs/index.md",
        "Squashed commit of the following",
        "@ben made their first contribution",
        "Add 'packages/kit/' from commit '2b8a73'",
        "[pre-commit.ci] pre-commit autoupdate",
        "Add files via upload",
    ),
    "work on the changelog": ("Add missing changelog entry for the reader", "Update the release notes"),
    "an e-mail address": ("Send the report to ada@example.org daily",),
    "the shape of a secret": ("Use token = abcdef123456 for the registry",),
    "an insult": ("Remove the stupid reader of headers",),
    "one or two words": ("Typos", "Reader", "1.2.3", "Add words"),
}
FREE = (
    "Fixed a deadlock while attempting to get a new connection slot after a timeout",
    "Initial plugin system",
    "fix the hygiene issue of `join!` and `try_join!`",
    "Save the state of the model between runs",
    "Allow a finally block without except in templates",
    "Move the cursor by words and add a key for it",
    "Make the runtime release the lock of idle workers",
    "Fix arithmetic stability issue",
    "Support I/O on sockets with timeouts",
    "Fix typo correction of misspelled commands",
    "Part the reader from its socket",
    "Same-site cookies are kept between requests",
    "In addition to names, list the addresses",
)


@pytest.mark.parametrize(("reason", "titles"), CAUGHT.items())
def test_each_rule_keeps_its_titles_out(reason: str, titles: tuple[str, ...]) -> None:
    for title in titles:
        assert reason_not_to_quote(title, clean(title).text) is not None, title
    assert reason in {reason_not_to_quote(title, clean(title).text) for title in titles}


def test_every_rule_has_an_example() -> None:
    assert set(CAUGHT) == set(REASONS)


@pytest.mark.parametrize("title", FREE)
def test_what_says_what_was_done_may_be_quoted(title: str) -> None:
    assert reason_not_to_quote(title, clean(title).text) is None
