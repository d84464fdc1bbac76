"""Which names does a line of source code import? A table with one row for each import syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from msgspec import Struct

_LONGEST = 300
"""characters read of a line"""


class Syntax(Struct, frozen=True):
    """How some languages import.

    A line is read if it contains one of `needles`. Each group of `pattern` matches a name, or names separated by
    commas.
    """

    family: str
    languages: tuple[str, ...]
    space: str
    needles: tuple[str, ...]
    pattern: str


def _syntax(family: str, languages: str, space: str, needles: Sequence[str], pattern: str) -> Syntax:
    return Syntax(family, tuple(languages.split(", ")), space, tuple(needles), pattern)


_compiled = cache(re.compile)  # compiled on demand: a repository uses few languages

# A pattern is matched at the first character of the line that is not blank.
SYNTAXES: tuple[Syntax, ...] = (
    _syntax(
        "python",
        "Python, Cython, Jupyter Notebook, Snakemake, Xonsh, Mojo, Vyper, Python console",
        "python",
        ["import "],
        r"(?:>>> )?(?:from ([A-Za-z_][\w.]*) c?import\b|c?import ([A-Za-z_][\w., ]*))",
    ),
    _syntax(
        "javascript",
        "JavaScript, TypeScript, TSX, Vue, Svelte, Astro, CoffeeScript, MDX, mdsvex, Glimmer JS, Glimmer TS",
        "npm",
        ["from ", "require", "import"],
        r"(?!//|\*|/\*)(?:[^\n]*?\b(?:from|require|import)\b ?\(? ?)[\"'`](?:npm:|jsr:)?([@\w][\w@./:-]*)[\"'`]",
    ),
    _syntax(
        "go",
        "Go, templ",
        "go",
        ['"'],
        r"(?:import )?(?:[\w.]+ )?\"([a-z][\w.~-]*(?:/[\w.~-]+)*)\"\s*(?://.*)?$",
    ),
    _syntax(
        "rust",
        "Rust",
        "crates",
        ["use ", "extern crate "],
        r"(?:pub(?:\([a-z ]+\))? )?(?:use|extern crate) (?:::)?([A-Za-z_]\w*(?:::\w+)*)",
    ),
    _syntax(
        "java",
        "Java, Kotlin, Scala, Groovy, Gradle, Gradle Kotlin DSL, AspectJ, Xtend, Java Server Pages",
        "java",
        ["import "],
        r"(?:<%@ ?page )?import (?:static )?([a-z][\w.]*)",
    ),
    _syntax(
        "c",
        "C, C++, Objective-C, Objective-C++, Cuda, Metal, OpenCL, HIP, ISPC, SWIG",
        "headers",
        ["#", "@import "],
        r"(?:# ?(?:include|import) ?[<\"]([\w./+-]+)[>\"]|@import ([\w.]+);)",
    ),
    _syntax(
        "dotnet",
        "C#, F#, Visual Basic .NET, HTML+Razor, Q#",
        "dotnet",
        ["using ", "open ", "Imports "],
        r"(?:global )?@?(?:using|open|Imports) (?:static )?(?:\w+ = )?([A-Z][\w.]*)",
    ),
    _syntax(
        "swift",
        "Swift",
        "swift",
        ["import "],
        r"(?:@\w+ )?import (?:class |struct |func |enum |protocol |typealias )?([A-Za-z]\w*)",
    ),
    _syntax("ruby", "Ruby, Crystal", "gems", ["require"], r"require ?\(?[\"']([\w./-]+)[\"']"),
    _syntax("php", "PHP, Hack, Blade", "php", ["use "], r"use (?:function |const )?\\?([A-Za-z_][\w\\]*)"),
    _syntax("perl", "Perl, Raku", "perl", ["use ", "require "], r"(?:use|require) ([A-Z]\w*(?:::\w+)*)"),
    _syntax(
        "r",
        "R, RMarkdown",
        "r",
        ["library(", "require(", "::"],
        r"[^\n#]*?(?:(?:library|require)\([\"']?([\w.]+)|\b([A-Za-z][\w.]*)::)",
    ),
    _syntax("julia", "Julia", "julia", ["using ", "import "], r"(?:using|import) ([A-Z][\w.]*(?:, ?[A-Z][\w.]*)*)"),
    _syntax(
        "haskell",
        "Haskell, Literate Haskell, PureScript, Idris, Agda",
        "haskell",
        ["import "],
        r"(?:open )?import +(?:safe )?(?:qualified +)?(?:\"[\w-]*\" )?([A-Z][\w.]*)",
    ),
    _syntax(
        "elixir",
        "Elixir, HTML+EEX",
        "elixir",
        ["use ", "import ", "alias ", "require "],
        r"(?:use|import|alias|require) ([A-Z][\w.]*)",
    ),
    _syntax(
        "erlang", "Erlang", "erlang", ["-include_lib(", "-behavio"], r"-(?:include_lib\(\"(\w+)/|behaviou?r\((\w+)\))"
    ),
    _syntax(
        "clojure",
        "Clojure, edn",
        "clojure",
        [":as ", ":refer "],
        r"[^\n;]*?[\[(]([a-z][\w.-]*) :(?:as|refer)\b",
    ),
    _syntax("dart", "Dart", "pub", ["import ", "export "], r"(?:import|export) ['\"](?:package:(\w+)|(dart:\w+))"),
    _syntax(
        "lua", "Lua, Luau, MoonScript, Fennel", "lua", ["require"], r"[^\n-]*?\brequire ?\(? ?[\"']([\w./@-]+)[\"']"
    ),
    _syntax("ocaml", "OCaml, Reason, Standard ML", "ocaml", ["open"], r"open!? ([A-Z][\w.]*)"),
    _syntax("nim", "Nim", "nim", ["import "], r"(?:from ([\w/]+) import|import ([\w/, ]+))"),
    _syntax("d", "D", "d", ["import "], r"(?:public |private |static )?import ([\w.]+)"),
    _syntax("zig", "Zig", "headers", ["@import(", "@cInclude("], r"[^\n/]*?@(?:cInclude|import)\(\"([\w./-]+)\""),
    _syntax("elm", "Elm", "elm", ["import "], r"import ([A-Z][\w.]*)"),
    _syntax(
        "solidity",
        "Solidity",
        "solidity",
        ["import "],
        r"import (?:[^\n\"']*from )?[\"'](@?[\w./-]+)[\"']",
    ),
    _syntax(
        "powershell",
        "PowerShell",
        "powershell",
        ["Import-Module ", "using module ", "#Requires "],
        r"(?:Import-Module (?:-Name )?|using module |#Requires -Modules? )['\"]?([A-Za-z][\w.]*)",
    ),
    _syntax("tcl", "Tcl", "tcl", ["package require "], r"package require (?:-exact )?([\w:]+)"),
    _syntax(
        "fortran", "Fortran, Fortran Free Form", "fortran", ["use", "USE"], r"(?:use|USE)(?: ?, ?\w+ ?::)? ?\b(\w+)"
    ),
    _syntax("qml", "QML", "qml", ["import "], r"import ([A-Z][\w.]*)"),
    _syntax("vala", "Vala, Genie", "dotnet", ["using "], r"using ([A-Z][\w.]*);"),
    _syntax("protocol", "Protocol Buffer", "go", ["import "], r"import (?:public )?\"([\w./-]+)\""),
    _syntax("bazel", "Starlark", "starlark", ["load("], r"load\(\"(@[\w./-]+)"),
    _syntax("haxe", "Haxe, ActionScript", "java", ["import "], r"import ([a-z][\w.]*)"),
    _syntax("terraform", "HCL, Terraform Template", "terraform", [], r"(?!)"),
    _syntax("shell", "Shell, fish, PowerShell, Makefile, Dockerfile, Just, Batchfile, Nushell", "python", [], r"(?!)"),
    _syntax("yaml", "YAML", "python", [], r"(?!)"),
    _syntax(
        "css",
        "CSS, SCSS, Sass, Less, PostCSS, Stylus",
        "npm",
        ["@use", "@import", "@plugin", "@tailwind"],
        r"@(?:use|import|plugin|forward) (?:url\()?[\"']~?([@\w][\w@./:-]*)[\"']",
    ),
    _syntax("html", "HTML, HTML+ERB, HTML+PHP, Jinja, Handlebars, EJS, Pug, Twig", "npm", [], r"(?!)"),
    _syntax("sql", "SQL, PLpgSQL, TSQL, PLSQL, SQLPL", "npm", [], r"(?!)"),
)


@cache
def syntax_by_language() -> Mapping[str, Syntax]:
    """The syntax of each language; the first row that names it counts."""
    found: dict[str, Syntax] = {}
    for syntax in SYNTAXES:
        for language in syntax.languages:
            found.setdefault(language, syntax)
    return found


@cache
def syntax_by_family() -> Mapping[str, Syntax]:
    """The syntax of each family."""
    return {syntax.family: syntax for syntax in SYNTAXES}


def import_lines(lines: Sequence[str], text: str, syntax: Syntax, *, flush: bool = False) -> Iterable[str]:
    """The lines that may import something; `text` is the lines joined. `flush`: only unindented ones."""
    needles = [needle for needle in syntax.needles if needle in text]
    if not needles:
        return ()
    found = _candidates(lines, text, needles)
    return [line for line in found if line[:1] not in " \t"] if flush else found


def imported_names(line: str, syntax: Syntax) -> Iterator[str]:
    """The names that one line imports."""
    found = _compiled(syntax.pattern).match(line.strip()[:_LONGEST])
    if found is not None:
        for group in found.groups():
            if group:
                yield from _split_names(group)


def _candidates(lines: Sequence[str], text: str, needles: Sequence[str]) -> Iterator[str]:
    """The lines with a needle, found in the joined text, so that lines without one cost nothing."""
    if len(needles) == 1:
        needle = needles[0]
        yield from [line for line in lines if needle in line]
        return
    starts: set[int] = set()
    for needle in needles:
        at = text.find(needle)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            if start not in starts:
                starts.add(start)
                yield text[start : end if end >= 0 else len(text)]
            at = text.find(needle, end) if end >= 0 else -1


def _split_names(group: str) -> Iterator[str]:
    """`a, b as c` gives a and b."""
    if "," not in group and " " not in group:
        yield group
        return
    for name in group.split(","):
        first = name.split(maxsplit=1)
        if first:
            yield first[0]
