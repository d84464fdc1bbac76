"""Write every fixed English text that people read as JSON: documents, help, page templates, messages, comments.

`scripts/check_prose.mjs` reads it. A Jinja expression or a value of an f-string becomes a code span, which a grammar
checker skips.
"""

from __future__ import annotations

import ast
import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import typer.main

from bot.cli.main import app

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("*.md", "docs/*.md", "docs/*/*.md")
COMMENTED = (".env.example", "Procfile", "app.yml", "action.yml", "deploy/*")
TEMPLATES = ("bot/render/**/templates/*.html", "bot/render/**/templates/*.md", "bot/render/**/templates/*.atom")
NO_MESSAGES = (
    *("/digest/", "/narrative/", "/narrator/", "/store/", "/queue/", "/metrics/"),
    *("/seed.py", "/linguist", "/generated_marks.py"),
)
"""Sentence parts, prompts, SQL, the source of docs/metrics.md, another product's layout, and Linguist's own words."""

OPEN = "`x`"
_COMMENT = re.compile(r"#(?!!)\s{0,2}[^\s#]")
"""a comment; what is indented in it is a command"""
_BLOCK_TAGS = (
    "p|div|li|i|ul|ol|dl|dt|dd|h[1-6]|table|thead|tbody|tr|td|th|caption|section|summary|details|main|nav|label|button"
)
_BLOCK = re.compile(
    rf"</?(?:{_BLOCK_TAGS}|header|footer|span|form|title|body|figure|figcaption|option|entry)\b[^>]*>", re.IGNORECASE
)
_UNREAD = re.compile(
    r"<(style|script|svg|head)\b.*?</\1>|<(\w+)[^>]*\baria-hidden=true.*?</\2>|\{#.*?#\}|<!--.*?-->", re.DOTALL
)
_READ_ALOUD = re.compile(r'\b(?:alt|title|placeholder|aria-label)="([^"]+)"')
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_ELSE = re.compile(r"\{%-?\s*(?:else|elif)\b.*?%\}", re.DOTALL)
_STATEMENT = re.compile(r"\{%.*?%\}", re.DOTALL)
_SENTENCE = re.compile(r"(?:^|\s)(?:[A-Za-z][a-z'’-]*[,.:;]? ){3,}[A-Za-z]")
_NOT_PROSE = re.compile(
    r"\\[bdswSWD(]|https?://\S+$|^[<{^%]|\\\.|·|#(?:12|$)"
    r"|^(?:select|insert|update|delete|create|pragma|with)\b.*\b(?:from|into|set|table|exists|where)\b"
    r"|\w+\([^)]*\$\w+|\{ \w+ \w+",
    re.IGNORECASE | re.DOTALL,
)

_FENCED = re.compile(r"^```.*?^```$|^ {4}[^\n]*$", re.DOTALL | re.MULTILINE)
_QUOTATION = re.compile(r"^>.*$|“[^”\n]*”", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SPAN = re.compile(r"``[^`]+``|`[^`]+`")
_URL = re.compile(r"<?https?://[^\s)>]+>?|\b[0-9a-f]{7,}\b")
_PATH = re.compile(
    r"(?<![\w`])(?:[\w.@-]+/)+[\w.@*-]+\.?[\w*]*(?<!\.)|(?<![\w`])(?:[\w-]+\.(?:py|md|yml|json|toml|html|mjs|txt|com|org|io|new)|\.(?:json|github|env|mailmap)|v\d+\.\d+\.\.v\d+\.\d+)\b"
)
_TABLE_RULE = re.compile(r"\|?(?:[ :]*-{3,}[ :]*\|)+[ :-]*", re.MULTILINE)
_TABLE_ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_UNIT = re.compile(r"(?<=\d) (?:s|ms|µs|kB|KB|KiB|MB|GB|MiB|GiB|%|px)(?![\w])|(?<=\d)x\b|(?<=in) µs\b")
_NUMBER = re.compile(r"(?<![\w.])\.(?=\d)|(?<=\d)-(?=\d)|(?<=\d) ?x(?=[\d.])|\bx(?=\d)|%(?:s|d|\.\df)(?: s\b)?")
_TYPED = re.compile(r"\b(?:json|csv|svg|html|markdown|jsonresume|guid|ci|ai_usage|Auto[Ff]ix)\b")
"""values as they are typed on a command line, in a file or in a delivery, and a product's name that two spell apart"""
_ONE_SPAN = re.compile(r"`x`(?:'s\b|(?:,? \(?`x`\)?)+)?")
"""neighbouring spans are one, or a grammar checker reads doubled words"""

Text = dict[str, str]


def documents() -> Iterator[Text]:
    """Every Markdown page for people."""
    for pattern in DOCUMENTS:
        for path in sorted(ROOT.glob(pattern)):
            yield _text(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))


def comments() -> Iterator[Text]:
    """The comments of settings and of files for deployment."""
    for pattern in COMMENTED:
        for path in sorted(ROOT.glob(pattern)):
            lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
            said = [line.lstrip("#").strip(" -") for line in lines if _COMMENT.match(line)]
            yield _text(path.relative_to(ROOT).as_posix(), "\n\n".join(said))


def command_help() -> Iterator[Text]:
    """What `--help` prints for every command and option."""

    def walk(command: object, name: str) -> Iterator[Text]:
        said = [getattr(command, "help", None) or ""]
        said += [getattr(one, "help", None) or "" for one in getattr(command, "params", [])]
        yield _text(f"{name} --help", "\n\n".join(text for text in said if text))
        for word, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{name} {word}")

    yield from walk(typer.main.get_command(app), "almanac")


def templates() -> Iterator[Text]:
    """The fixed texts of pages and posts, without tags and Jinja."""
    for pattern in TEMPLATES:
        for path in sorted(ROOT.glob(pattern)):
            yield _text(path.relative_to(ROOT).as_posix(), of_template(path.read_text("utf-8")))


def of_template(source: str) -> str:
    """The words of a template: a paragraph for each block, expressions as code spans."""
    source = _UNREAD.sub("", source)
    source = _EXPRESSION.sub(OPEN, _STATEMENT.sub("", _ELSE.sub(f" {OPEN} ", source)))
    aloud = _READ_ALOUD.findall(source)
    source = re.sub(r"<[^>]*>", "", _BLOCK.sub("\n\n", source.replace("</b><b>", " ")))
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", source)]
    return html.unescape("\n\n".join(part for part in (*paragraphs, *aloud) if re.search("[a-z]{2}", part)))


def messages() -> Iterator[Text]:
    """Sentences in the code that people read: errors, findings, labels of pages."""
    for path in sorted((ROOT / "bot").rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        if not any(part in place for part in NO_MESSAGES):
            found = list(dict.fromkeys(of_module(path.read_text("utf-8"))))
            if found:
                yield _text(place, "\n\n".join(found))


def of_module(source: str) -> Iterator[str]:
    """The sentences among a module's strings; docstrings are not among them."""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        if id(node) not in skipped and isinstance(node, ast.Constant | ast.JoinedStr):
            said = " ".join(_words(node).split())
            if _SENTENCE.search(said) and not _NOT_PROSE.search(said):
                yield said


def _words(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_words(part) for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else OPEN


def _text(where: str, text: str) -> Text:
    return {"where": where, "text": masked(text)}


def _quotation(found: re.Match[str]) -> str:
    return "" if found[0].startswith(">") else OPEN


def masked(text: str) -> str:
    """Markdown without what is not prose of ours: code, quotations, addresses, names of repositories and files."""
    text = _LINK.sub(r"\1", _QUOTATION.sub(_quotation, _FENCED.sub("", text)))
    for pattern in (_SPAN, _URL, _PATH, _OPTION, _TYPED, _ONE_SPAN):
        text = pattern.sub(OPEN, text)
    text = _TABLE_ROW.sub(lambda row: row[0].replace("|", "\n\n"), _TABLE_RULE.sub("", text))
    return _NUMBER.sub("0", _UNIT.sub("", text))


def all_texts() -> list[Text]:
    """Every text, in the order in which a person would read them."""
    found = (*documents(), *command_help(), *templates(), *messages(), *comments())
    return [one for one in found if one["text"].strip()]


if __name__ == "__main__":
    json.dump(all_texts(), sys.stdout, ensure_ascii=False)
