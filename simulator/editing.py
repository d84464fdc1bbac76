"""Which files does one line of the story change? Each kind of edit, applied to a codebase."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from simulator.coding import LOCKS, MANIFESTS, Codebase, Function, number_of
from simulator.git import Tree

Files = dict[str, str]
COMPANIONS = ("validate", "describe", "collect")


def initial_files(code: Codebase, description: str, almanac: str | None) -> Files:
    """The files a repository starts with."""
    manifest = f'name = "{code.package}"\nversion = "0.1.0"\ndescription = "{description}"\n'
    start = {
        "README.md": f"# {code.package}\n\n{description}.\n",
        ".gitattributes": "src/generated/** linguist-generated\n",
        MANIFESTS[code.language]: manifest,
        LOCKS[code.language]: lock_file(code.package, 40),
        ".github/workflows/ci.yml": "name: ci\non: [push, pull_request]\njobs:\n  test:\n    runs-on: ubuntu-latest\n",
    }
    return start | ({".github/almanac.yml": almanac} if almanac else {})


def lock_file(seed: str, lines: int) -> str:
    """The content of a lock file: lines of hashes."""
    return "".join(f"{seed}-{n} = {hashlib.sha256(f'{seed}{n}'.encode()).hexdigest()}\n" for n in range(lines))


def edit_code(code: Codebase, edit: str, unit: str, *, sentence: str, before: Tree) -> Files:
    """The files changed by one edit of the story; `unit` is `module.function` or a single word."""
    module, _, name = unit.partition(".")
    if edit in {"add", "fix", "fix2", "perf"}:
        home, function = code.find(name) or _new_function(code, module, name, sentence=sentence)
        function.landed |= {edit} - {"add"}
        return {code.path("source", home): code.source(home)}
    if edit == "move":
        return _move_function(code, module, name, sentence=sentence)
    if edit == "test":
        return add_test(code, unit)
    return OTHER_EDITS[edit](code, unit, before)


def _new_function(code: Codebase, module: str, name: str, *, sentence: str) -> tuple[str, Function]:
    """Add a function and up to three smaller ones that it needs."""
    plural = name.rpartition("_")[2]
    needed = [f"{verb}_{plural}" for verb in COMPANIONS[: number_of(name) % 4]]
    known = {function.name for functions in code.modules.values() for function in functions}
    companions = [Function(entry, f"Needed to {entry.replace('_', ' ')}.") for entry in needed if entry not in known]
    function = Function(name, sentence)
    code.modules.setdefault(module, []).extend([*companions, function])
    return module, function


def _move_function(code: Codebase, module: str, name: str, *, sentence: str) -> Files:
    """Move the last function of the oldest other module to `module` and add a new one after it."""
    other = next(candidate for candidate in code.modules if candidate != module and len(code.modules[candidate]) > 0)
    moving = code.modules[other].pop()
    code.modules.setdefault(module, []).append(moving)
    _new_function(code, module, name, sentence=sentence)
    return {code.path("source", entry): code.source(entry) for entry in (other, module)}


def add_test(code: Codebase, unit: str) -> Files:
    """Add one more test for a function."""
    module, _, name = unit.partition(".")
    code.tested.setdefault(module, []).append(name)
    return {code.path("test", module): code.tests(module)}


def add_docs_section(code: Codebase, unit: str, before: Tree, text: str) -> Files:
    """Add one more section to the page of a module."""
    module, _, name = unit.partition(".")
    path = f"docs/{module}.md"
    old = before[path].content.decode() if path in before else f"# {module.title()}\n"
    heading = name.replace("_", " ").capitalize() or "Notes"
    section = f"\n## {heading}\n\n{text}\n\nLevels are metres above the chart datum, times are UTC.\n"
    return {path: old + section}


def _old_text(before: Tree, path: str) -> str:
    return before[path].content.decode() if path in before else ""


def _write_docs(code: Codebase, unit: str, before: Tree) -> Files:
    return add_docs_section(
        code, f"{unit}.background", before, f"What a reader of {code.package} needs to know about {unit}."
    )


def _write_workflow(code: Codebase, _: str, before: Tree) -> Files:
    path = ".github/workflows/ci.yml"
    step = len(_old_text(before, path).splitlines())
    return {path: _old_text(before, path) + f"    timeout-minutes: {step}\n    env:\n      STAGE: s{step}\n"}


def _bump(code: Codebase, unit: str, before: Tree) -> Files:
    manifest, lock = MANIFESTS[code.language], LOCKS[code.language]
    fresh = lock_file(unit, 25 + number_of(unit) % 40)
    return {manifest: _old_text(before, manifest) + f'{unit} = "*"\n', lock: _old_text(before, lock) + fresh}


def _vendor(code: Codebase, unit: str, _: Tree) -> Files:
    body = "".join(f"  exports.curve{n} = function (a, b) {{ return a * {n} + b; }};\n" for n in range(220))
    return {
        f"vendor/{unit}/{unit}.js": f"/*! {unit} 2.1, MIT */\n(function (exports) {{\n{body}}})(this);\n",
        f"vendor/{unit}/LICENSE": "MIT License\n",
    }


def _configure(code: Codebase, unit: str, before: Tree) -> Files:
    path = f"config/{unit}.yaml"
    return {
        path: _old_text(before, path) + "".join(f"harbour_{n}:\n  threshold: {n * 0.35:.2f}\n" for n in range(1, 9))
    }


def _migrate(code: Codebase, unit: str, before: Tree) -> Files:
    number = 1 + sum(path.startswith("migrations/") for path in before)
    table = f"CREATE TABLE {unit} (\n    id bigint PRIMARY KEY,\n    harbour text NOT NULL,\n"
    table += "    cents integer NOT NULL\n);\n"
    return {f"migrations/{number:04d}_{unit}.sql": table + f"CREATE INDEX {unit}_harbour ON {unit} (harbour);\n"}


def _generate(code: Codebase, unit: str, _: Tree) -> Files:
    lines = "".join(f"export const endpoint{n} = '/v1/{unit}/{n}';\n" for n in range(130))
    return {f"src/generated/{unit}.ts": f"// Code generated by the API compiler. DO NOT EDIT.\n{lines}"}


OTHER_EDITS: dict[str, Callable[[Codebase, str, Tree], Files]] = {
    "docs": _write_docs,
    "ci": _write_workflow,
    "bump": _bump,
    "vendor": _vendor,
    "config": _configure,
    "sql": _migrate,
    "generated": _generate,
}
