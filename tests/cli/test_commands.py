from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.metrics.registry import METRICS
from bot.narrative.commands import COMMAND_FORMS, Command, Mistake, read_commands
from bot.narrative.comment_lines import comment_lines


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/almanac me", Command("me")),
        ("/almanac  me ", Command("me")),
        ("/almanac why 12", Command("why", "12")),
        ("/almanac why features", Command("why", "features")),
        ("/almanac classify fix", Command("classify", "fix")),
        ("/almanac dispute this is `not` a fix", Command("dispute", "this is `not` a fix")),
        ("/almanac anonymise", Command("anonymise")),
        ("/almanac public off", Command("public", "off")),
        ("/almanac opt-out", Command("opt-out")),
        ("/almanac forget-me", Command("forget-me")),
        ("/almanac recount", Command("recount")),
        ("/almanac digest preview", Command("digest preview")),
        ("/almanac pause", Command("pause")),
    ],
)
def test_every_command_is_read_word_for_word(line: str, command: Command) -> None:
    assert read_commands(f"Thanks.\n\n{line}\n") == (command,)


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("/almanac mee", "did you mean me?"),
        ("/almanac clasify feature", "did you mean classify feature|fix|other?"),
        ("/almanac classify bug-fix", "did you mean classify fix?"),
        ("/almanac classify", "write classify feature|fix|other"),
        ("/almanac anonymize", "did you mean anonymise?"),
        ("/almanac opt out", "did you mean opt-out?"),
        ("/almanac forget me", "did you mean forget-me?"),
        ("/almanac public", "write public on|off"),
        ("/almanac public of", "did you mean public off?"),
        ("/almanac dispute", "write dispute TEXT"),
        ("/almanac me please", "me takes nothing after it"),
        ("/almanac digest", "did you mean digest preview?"),
        ("/almanac ME", "did you mean me?"),
    ],
)
def test_a_mistyped_word_gets_a_suggestion(line: str, hint: str) -> None:
    (found,) = read_commands(line)
    assert isinstance(found, Mistake)
    assert found.hint == hint


@pytest.mark.parametrize("word", ["0", "-1", "12x", "１２", "99999999999", "", "#12"])
def test_a_number_is_a_plain_number(word: str) -> None:
    (found,) = read_commands(f"/almanac why {word}")
    assert isinstance(found, Mistake)
    assert all(metric.key in found.hint for metric in METRICS)


def test_an_unknown_word_far_from_all_names_lists_all_names() -> None:
    (found,) = read_commands("/almanac xyzzy")
    assert isinstance(found, Mistake)
    assert all(form.usage in found.hint for form in COMMAND_FORMS)
    (alone,) = read_commands("/almanac")
    assert isinstance(alone, Mistake)


def test_at_most_five_commands_of_a_comment_are_read() -> None:
    assert len(read_commands("/almanac me\n" * 9)) == 5


@pytest.mark.parametrize(
    "body",
    [
        "```\n/almanac opt-out\n```",
        "~~~~ sh\n/almanac opt-out\n~~~\n~~~~",
        "```\n/almanac opt-out",
        "> /almanac opt-out",
        "> somebody wrote\n/almanac opt-out",
        "    /almanac opt-out",
        "text `code\n/almanac opt-out\nmore` text",
        "<!--\n/almanac opt-out\n-->",
        "words <!-- hidden\n/almanac opt-out\n--> words",
        "<pre>\n\n/almanac opt-out\n</pre>",
        "<blockquote>\n\n/almanac opt-out\n\n</blockquote>",
        "please say /almanac opt-out",
        "- /almanac opt-out",
        "/almanacs opt-out",
        "/ALMANAC opt-out",
    ],
)
def test_text_in_quotes_code_or_sentences_is_not_a_command(body: str) -> None:
    assert read_commands(body) == ()


def test_words_after_a_quote_belong_to_the_writer() -> None:
    body = "> /almanac opt-out\n\nNo.\n\n```\n/almanac forget-me\n```\n/almanac me\n\n`x` and ` alone\n/almanac pause"
    assert read_commands(body) == (Command("me"), Command("pause"))


PIECES = st.sampled_from(
    [
        *("/almanac me", "/almanac opt-out", "\n/almanac me\n", "\n/almanac me\n", "[x]: /almanac me", "words"),
        *("> ", ">", "```", "````", "~~~", "`", "``", "    ", "   ", "- ", "1. ", "\n", "\n", "\n\n", "\t", "# ", "\\"),
        *("<!-- ", " -->", "<pre>", "</pre>", "<div>", "</div>", "<?", "?>", "***", "~", "| a | b |\n|---|---|\n"),
    ]
)
HIDING = ("<!--", "<pre", "<?")


def _visible(body: str) -> set[str]:
    """What begins a line as plain text outside quotes, as a Markdown parser sees it."""
    tokens: list[Token] = MarkdownIt("commonmark").enable("table").parse(body)
    depth, shown = 0, set()
    for token in tokens:
        if token.type in ("blockquote_open", "blockquote_close"):
            depth += token.nesting
        elif not depth and token.type == "html_block" and not token.content.lstrip().startswith(HIDING):
            shown |= set(token.content.splitlines())
        elif not depth and token.type == "inline":
            shown |= _begun_as_text(token)
    return shown


def _begun_as_text(token: Token) -> set[str]:
    fresh, shown = True, set()
    for child in token.children or []:
        if child.type in ("softbreak", "hardbreak"):
            fresh = True
        elif fresh and child.content:
            fresh = False
            if child.type == "text":
                shown.add(child.content)
    return shown


@given(st.lists(PIECES, max_size=14).map("".join))
@example("`\n/almanac me\n`")
@example("`\n/almanac me\n`<!-- ")
@example("> a\n/almanac me")
@example("- > a\n/almanac me")
@example("1. * > a\n/almanac me")
def test_no_line_that_a_markdown_parser_quotes_or_shows_as_code_is_a_command(body: str) -> None:
    lines = body.split("\n")
    for number, line in enumerate(lines):
        if line.startswith("/almanac "):
            told = f"/almanac line{number}"
            marked = "\n".join([*lines[:number], told, *lines[number + 1 :]])
            if told not in _visible(marked):
                assert told not in comment_lines(marked)


@pytest.mark.parametrize(
    "body",
    [
        "`" * 65_536,
        "` `` " * 13_000,
        "> " * 32_768,
        "<!--" * 16_384,
        "```\n" * 16_384,
        "/almanac why 1\n" * 4_400,
        "<pre" * 16_000,
    ]
    + [("`" * n + " ") for n in (1, 300)]
    + ["".join("`" * n + "\n" for n in range(1, 360))],
)
def test_hostile_text_is_read_in_milliseconds(body: str) -> None:
    read_commands(body)
    begun = time.process_time()
    for _ in range(3):
        read_commands(body)
    assert (time.process_time() - begun) / 3 < 0.1
