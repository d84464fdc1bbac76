import time

from bot.landing.message.lines import LONGEST_LINE, MOST_LINES, message_lines
from bot.landing.message.trailers import as_trailer, trailer_lines, trailers


def test_the_last_paragraph_is_read_in_order_with_keys_as_written():
    message = "Add a thing\n\nBecause.\n\nReviewed-by: Ada <a@example.org>\nChange-Id: I12\n"
    assert trailers(message) == (("Reviewed-by", "Ada <a@example.org>"), ("Change-Id", "I12"))


def test_paragraphs_of_nothing_but_trailers_before_the_last_one_count():
    bodies = (
        "Add (#1)",
        "* one",
        "Signed-off-by: A <a@x>",
        "* two",
        "Co-authored-by: B <b@x>",
        "Co-authored-by: C <c@x>",
    )
    message = "\n\n".join(bodies)
    assert [value for _, value in trailers(message)] == ["B <b@x>", "C <c@x>"]


def test_prose_with_a_colon_is_not_a_trailer():
    assert trailers("Add a thing\n\nNote that this: is prose\nand goes on\nand on\nand on\n") == ()
    assert trailers("fix: a subject alone") == ()


def test_a_cherry_pick_line_may_be_among_trailers():
    message = "Fix\n\nSigned-off-by: A <a@x>\n(cherry picked from commit " + "a" * 40 + ")\n"
    assert trailers(message) == (("Signed-off-by", "A <a@x>"),)


def test_an_indented_line_continues_the_value():
    assert trailers("Fix\n\nTested-on: one\n  and two\n") == (("Tested-on", "one and two"),)


def test_carriage_returns_do_not_stay_in_values():
    assert trailers("Fix\r\n\r\nChange-Id: I1\r\n") == (("Change-Id", "I1"),)


def test_a_value_on_the_next_line_is_found_and_a_trailer_there_is_kept():
    lines = [
        "Export",
        "",
        "Summary:",
        "X-link: https://example.org",
        "Differential Revision:",
        "D12",
        "",
        "Test Plan:",
        "",
        "CI",
    ]
    assert trailer_lines(lines) == [
        ("X-link", "https://example.org"),
        ("Differential Revision", "D12"),
        ("Test Plan", "CI"),
    ]


def test_a_trailer_key_is_short_and_starts_its_line():
    assert as_trailer("  Key: value") is None
    assert as_trailer("https://example.org") is None
    assert as_trailer("k" * 41 + ": value") is None
    assert as_trailer(": value") is None


def test_hostile_messages_are_cut_and_read_quickly():
    for text in (
        "\n" + "a: " * 22_000,
        "\n\n" + "Co-authored-by:" + " " * 65_000,
        "x\n\n" + ":\n" * 32_000,
        "\n" * 65_536,
    ):
        begin = time.perf_counter()
        trailers(text)
        assert time.perf_counter() - begin < 1
    assert max(map(len, message_lines("x" * 5000))) == LONGEST_LINE
    assert len(message_lines("a\n" * 9000)) == MOST_LINES
