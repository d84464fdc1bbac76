"""What does the invented people's code look like? Files built from function templates and the words of a change."""

from __future__ import annotations

import functools
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

MANIFESTS = {"python": "pyproject.toml", "typescript": "package.json", "rust": "Cargo.toml", "go": "go.mod"}
LOCKS = {"python": "uv.lock", "typescript": "package-lock.json", "rust": "Cargo.lock", "go": "go.sum"}


@functools.cache
def templates() -> Mapping[str, Any]:
    return tomllib.loads((files("simulator") / "templates.toml").read_text("utf-8"))


def number_of(text: str) -> int:
    """A number derived from a text, the same in every run and on every machine."""
    return zlib.crc32(text.encode())


@dataclass(slots=True)
class Function:
    name: str
    sentence: str
    landed: set[str] = field(default_factory=set)
    """those of fix, fix2 and perf that have landed"""

    def words(self, package: str, module: str, *, again: str = "") -> dict[str, str]:
        """The values of the templates' `<<words>>`; `again` distinguishes a second test of one function."""
        plural = self.name.rpartition("_")[2]
        noun = plural[:-3] + "y" if plural.endswith("ies") else plural.removesuffix("s")
        pascal = "".join(part.title() for part in self.name.split("_"))
        seed = number_of(self.name)
        return {
            "package": package,
            "module": module,
            "Module": module.title(),
            "unit": self.name + again,
            "Unit": pascal + again.removeprefix("_"),
            "camel": pascal[0].lower() + pascal[1:],
            "noun": noun,
            "plural": plural,
            "Plural": plural.title(),
            "sentence": self.sentence,
            "number": str(3 + seed % 22),
            "small": f"0.{5 + seed % 90:02d}",
            "digit": str(1 + seed % 3),
        }


def fill_template(text: str, words: Mapping[str, str]) -> str:
    """The template with each `<<word>>` replaced."""
    for word, value in words.items():
        text = text.replace(f"<<{word}>>", value)
    return text.strip("\n") + "\n"


def chosen_lines(text: str, landed: set[str]) -> str:
    """The template's lines once the changes in `landed` have been made."""
    chosen: list[str] = []
    for line in text.split("\n"):
        mark, _, rest = line.partition(" ")
        if mark[:1] in {"+", "-"} and mark[1:] in {"fix", "fix2", "perf"}:
            if (mark[1:] in landed) == (mark[0] == "+"):
                chosen.append(rest)
        else:
            chosen.append(line)
    return "\n".join(chosen)


@dataclass(slots=True)
class Codebase:
    """The code of one repository on its main branch: modules of functions."""

    package: str
    language: str
    modules: dict[str, list[Function]] = field(default_factory=dict)
    tested: dict[str, list[str]] = field(default_factory=dict)
    """module -> functions with tests, repeated for each time a test was written"""

    @property
    def shape(self) -> Mapping[str, Any]:
        shape: Mapping[str, Any] = templates()[self.language]
        return shape

    def find(self, name: str) -> tuple[str, Function] | None:
        """A function and its current module."""
        for module, functions in self.modules.items():
            for function in functions:
                if function.name == name:
                    return module, function
        return None

    def path(self, kind: str, module: str) -> str:
        return fill_template(self.shape[kind], {"package": self.package, "module": module}).strip()

    def source(self, module: str) -> str:
        """The content of a module's source file."""
        words = {"package": self.package, "module": module, "Module": module.title()}
        parts = [fill_template(self.shape["header"], words)]
        for function in self.modules[module]:
            shapes = self.shape["functions"]
            text = shapes[number_of(function.name) % len(shapes)]
            parts.append(fill_template(chosen_lines(text, function.landed), function.words(self.package, module)))
        return ("\n\n" if self.language == "python" else "\n").join(parts)

    def tests(self, module: str) -> str:
        """The content of a module's test file."""
        words = {"package": self.package, "module": module}
        parts = [fill_template(self.shape["test_header"], words)]
        for turn, name in enumerate(self.tested[module]):
            again = f"_{self.tested[module][:turn].count(name) + 1}" if name in self.tested[module][:turn] else ""
            shapes = self.shape["tests"]
            text = shapes[(number_of(name) + turn) % len(shapes)]
            parts.append(fill_template(text, Function(name, "").words(self.package, module, again=again)))
        return ("\n\n" if self.language == "python" else "\n").join(parts)
