"""Which part of the product does a file belong to, by its path alone?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from bot.landing.changelogs.headings import heading_token
from bot.narrative.project_texts import Move

_MOST_MOVES = 8
"""times that one file is followed to a new path"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GENERIC = _words(
    "bin src source sources lib libs library pkg pkgs packages package crates crate modules module app apps"
    " application internal private server client core views view static guide guides build main java kotlin"
    " scala com org io net dev python js ts typescript javascript cmd include includes project projects"
    " workspace services service components component shared web webapp backend frontend docs doc documentation"
    " content site website pages page en english reference references manual public impl base go rust cpp csrc"
    " code root files file resources resource assets asset v1 v2 v3 user users developer developers development"
    " topics topic how-to howto tutorial tutorials explanation how-tos _internal _core _src internals language"
    " languages platform"
)
"""folders that take the next folder below"""
DOCUMENTATION = _words("doc docs _docs documentation user-guide userguide guide guides website site content manual")
GENERIC_IN_DOCUMENTATION = _words(
    "concepts tasks customize customise customization configure learn contribute advanced basics use using integrate"
    " user-guide userguide developer-guide extend deploy develop essentials further how-tos recipes"
    " ar cs de es fa fr hi id it ja ko nl pl pt pt-br ru sv tr uk vi zh zh-cn zh-hans zh-hant zh-tw"
)
"""folders of the documentation that take the next below: kinds of pages, verbs and languages"""
NAMELESS_FOLDERS = _words(
    "test tests testing __tests__ spec specs e2e fixtures fixture testdata snapshots __snapshots__ mocks"
    " __mocks__ bench benches benchmark benchmarks example examples demo demos sample samples script scripts"
    " tool tools tooling vendor vendored _vendor third_party thirdparty external extern deps node_modules dist"
    " out target generated gen images image img icons fonts css styles media locale locales i18n translations"
    " po lang messages migrations changelog changelogs changes news newsfragments releases release releasenotes"
    " release-notes whatsnew history ci docker .github .circleci .vscode .idea config configs conf etc"
    " packaging debian rpm hack misc tmp temp old contrib contributing templates _templates _static _ext themes"
    " layouts _layouts _includes _sass _data _posts data playground playgrounds"
    " sandbox integration-tests integration_tests unit functional smoke"
    " perf-tests testcases test-data conformance"
)
"""folders whose contents name nothing"""
NAMELESS_WORDS = _words(
    "make run execute compile parse read write get set load save send do use check convert create handle apply merge"
    " copy move start stop open close call print show dump fetch find sort build upload download import export wrap"
    " add adds ref bot feat feature features fix fixes bug bugs update updates change remove new chore misc"
    " index main mod lib init setup conf config configuration version versions _version about types type typing"
    " constants const consts util utils utility utilities helper helpers common compat compatibility base basic"
    " error errors exceptions exception readme conftest test tests testing doc docs license contributing"
    " authors changelog changes history news todo package makefile dockerfile all default defaults extra extras"
    " other others more general generic global globals tool tools script scripts abc impl interface interfaces"
    " model models data settings options option support install installation quickstart introduction intro"
    " overview faq usage example examples getting-started started release releases release-notes release_notes"
    " releasenotes whatsnew roadmap security upgrade customize customise configure"
    " upgrading migration migrations migrate python prelude macros app core shared public"
    " internal private internals wrapper wrappers func funcs function functions object objects class classes"
    " root env flag flags args team troubleshooting step_definitions"
    " method methods value values name names string strings list dict set sets"
)
"""names of modules that name no part of a product"""
_SOURCE = re.compile(
    r"\.(?:py|pyi|pyx|pxd|rs|go|c|cc|cpp|cxx|h|hpp|hh|cu|cuh|m|mm|java|kt|kts|scala|swift|cs|fs|vb|js|jsx"
    r"|mjs|cjs|ts|tsx|mts|vue"
    r"|svelte|astro|rb|php|pl|pm|ex|exs|erl|hs|ml|mli|clj|cljs|lua|r|jl|dart|zig|nim|sh|ps1|sql|proto"
    r"|thrift|el|vim|md|mdx|rst"
    r"|adoc|ipynb|html|jinja|j2|tmpl|erb|hbs|scss|sass|less|css|f90|f|d|v|sv|vhd|cr|groovy|rkt|scm|lisp"
    r"|tcl|awk|wgsl|glsl|hlsl)$",
    re.IGNORECASE,
)
_TEST_STEM = re.compile(r"(?:test_.*|.*_test|.*[._-](?:test|spec|stories|bench)|conftest|tests?|.*Tests?)(?:\..*)?")
_NAME = re.compile(r"[A-Za-z][\w .+@-]*")
_PARTS = re.compile(r"[-_.]")
_NEVER_A_PART = frozenset(("version", "versions", "readme", "faq"))
"""words that make a compound a name of no part"""
_VERSION = re.compile(r"v?\d[\w.]*|.*\d{4,}.*|[0-9a-f]{7,}")


class Component(NamedTuple):
    """A part of the product."""

    token: str
    """the name as compared, below those of the broader parts: code and documentation of one part have the same"""
    name: str
    """as the folder or file is written"""
    folder: str
    """the path that has the name"""


@lru_cache(maxsize=1 << 15)
def components(path: str, own: frozenset[str]) -> tuple[Component, ...]:
    """The parts of the product that contain the file, broadest first; `own` are tokens of the repository's names."""
    *folders, file = path.split("/")
    if not folders or not _SOURCE.search(file) or file.startswith("."):
        return ()
    found: list[Component] = []
    for depth, folder in enumerate(folders):
        if folder.startswith(".") or not NAMELESS_FOLDERS.isdisjoint({folder.lower(), *_PARTS.split(folder.lower())}):
            return ()
        part = _component(folder, "/".join(folders[: depth + 1]), own)
        if part is not None and not _is_generic(folder.lower(), folders[:depth]):
            found.append(_inside(found, part))
    stem = file.partition(".")[0]
    if _TEST_STEM.fullmatch(stem) or _TEST_STEM.fullmatch(file.rpartition(".")[0]):
        return ()
    module = _component(stem, path, own)
    if module is not None and all(module.token not in part.token.split("/") for part in found):
        found.append(_inside(found, module))
    return tuple(found)


def is_documentation(path: str) -> bool:
    """Whether a file or folder is, or is in, the documentation."""
    return not DOCUMENTATION.isdisjoint(path.lower().split("/"))


def _is_generic(folder: str, above: Sequence[str]) -> bool:
    """Whether the folder names nothing by itself, so that the next one below does."""
    return folder in GENERIC or (folder in GENERIC_IN_DOCUMENTATION and is_documentation("/".join(above)))


def _inside(broader: Sequence[Component], part: Component) -> Component:
    """The part with its token below that of the broader one: a `reader` elsewhere is another part."""
    return part._replace(token=f"{broader[-1].token}/{part.token}") if broader else part


def _component(written: str, path: str, own: frozenset[str]) -> Component | None:
    name = written.strip("_-. @")
    token = heading_token(name)
    plain = name.lower()
    parts = _PARTS.split(plain)
    nameless = plain in NAMELESS_WORDS or NAMELESS_WORDS.issuperset(parts) or not _NEVER_A_PART.isdisjoint(parts)
    unfit = nameless or token in own or len(token) < 2 or not _NAME.fullmatch(name)
    return None if unfit or _VERSION.fullmatch(plain) else Component(token, name, path)


@lru_cache(maxsize=1 << 10)
def own_tokens(repository: str) -> frozenset[str]:
    """The tokens of a repository's names, which name no part of it."""
    names = [part for name in repository.split("/") for part in (name, *re.split(r"[-_.]", name))]
    words = [word for word in re.split(r"[-_.]", repository.rpartition("/")[2]) if word]
    names += ["".join(words[start:end]) for start in range(len(words)) for end in range(start + 1, len(words) + 1)]
    project = repository.rpartition("/")[2]
    names += [project.removeprefix(lead) for lead in ("python-", "py", "go-", "node-", "rust-")] + [f"py{project}"]
    return frozenset(heading_token(name) for name in names if len(name) > 1)


class Moves:
    """Follows files to their last path."""

    def __init__(self, moves: Iterable[Move]) -> None:
        self._later: dict[str, list[tuple[int, str]]] = {}
        for move in moves:
            self._later.setdefault(move.old, []).append((move.landed_at, move.new))

    def last_path(self, path: str, landed_at: int) -> str:
        """The path that a file has now, if it had `path` after what landed at that time."""
        for _ in range(_MOST_MOVES):
            following = self._next(path, landed_at)
            if following is None:
                break
            landed_at, path = following
        return path

    def _next(self, path: str, landed_at: int) -> tuple[int, str] | None:
        if not self._later:
            return None
        tail = ""
        part = path
        while part:
            for when, new in self._later.get(part, ()):
                if when >= landed_at and new != part:
                    return when + 1, new + tail
            part, _, last = part.rpartition("/")
            tail = f"/{last}{tail}"
        return None


def paths_now(paths: Sequence[str], landed_at: int, moves: Moves) -> Collection[str]:
    """The paths of these files now, each once."""
    return dict.fromkeys(moves.last_path(path, landed_at) for path in paths)
