"""Does the repository keep its own rules: what is documented, how long and how named modules are, what files hold?"""

from __future__ import annotations

import ast
import io
import re
import statistics
import subprocess
import tokenize
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main
from pydantic import AliasChoices

from bot.cli.main import app
from bot.configuration.environment import Environment

ROOT = Path(__file__).parents[1]
CODE = ("bot", "handlers", "simulator")
LONGEST_MODULE, MEDIAN_MODULE = 350, 120
LONGEST_HANDLER = 20
WRITTEN_ONCE = "bot/store/migrations/versions"
"""a migration is history: it is not split afterwards"""
BANNED = {"util", "utils", "helper", "helpers", "manager", "common", "misc", "data", "info", "process"}
LOCK_FILES = (
    "requirements.lock",
    "development.lock",
    "ci.lock",
    "package-lock.json",
    "uv.lock",
    "poetry.lock",
    "yarn.lock",
)
ADDRESS = re.compile(r"^(?!\s*\"url\": ).*(?:://|--(?:extra-)?index-url|--find-links|--trusted-host)", re.MULTILINE)
"""where packages come from; `url` in npm's lock is that of a sponsor"""
INSTALL = re.compile(r"\b(?:pipx?|uv|uvx)(?: tool| pip)? (?:install|run|add) ((?:[^`\n]*?))(?=[`\n#;&|]|$)")
MACHINE_PATH = re.compile(r"(?<![\w.~*$}/-])/(?:work|root|home)/[\w.-]")
MARKDOWN_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


@cache
def files() -> tuple[str, ...]:
    """Paths of the repository's files: what git tracks, or what an unpacked archive holds."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return tuple(path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file())
    skipped = {"node_modules", "build", "dist", "__pycache__"}
    found = (path.relative_to(ROOT) for path in sorted(ROOT.rglob("*")) if path.is_file())
    hidden = (".ci", ".env.example", ".gitignore", ".pre-commit-config.yaml")
    return tuple(
        path.as_posix()
        for path in found
        if not skipped & set(path.parts) and (path.parts[0] in hidden or not path.parts[0].startswith("."))
    )


@cache
def text(path: str) -> str | None:
    """The file as text, None where it is not."""
    content = (ROOT / path).read_bytes()
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def modules(*roots: str) -> list[str]:
    return [path for path in files() if path.endswith(".py") and path.split("/")[0] in (roots or CODE)]


def comments(path: str) -> Iterator[tuple[int, str]]:
    """(line, comment) of a Python file; strings that look like comments are none."""
    for token in tokenize.generate_tokens(io.StringIO(text(path) or "").readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


# --- documented ------------------------------------------------------------------------------------------------------


@cache
def commands() -> dict[str, list[str]]:
    """Every command, as it is typed, with the names of its options."""
    found: dict[str, list[str]] = {}

    def walk(command: object, name: str) -> None:
        inner = getattr(command, "commands", None)
        if inner is None:
            options = [one for one in getattr(command, "params", []) if one.param_type_name == "option"]
            found[name] = [one.opts[0] for one in options if one.opts[0] != "--help"]
            return
        for word, one in inner.items():
            walk(one, f"{name} {word}")

    walk(typer.main.get_command(app), "almanac")
    return found


@pytest.mark.parametrize("command", sorted(commands()))
def test_the_readme_has_a_line_for_every_command_and_the_reference_all_its_options(command: str) -> None:
    named = re.findall(r"`(almanac [a-z-]+(?: [a-z]+)?)", text("README.md") or "")
    assert any(command == one or command == " ".join(one.split()[:2]) for one in named), f"README.md lacks {command}"
    reference = text("docs/reference/command-line.md") or ""
    (section,) = re.findall(rf"^## {command}\n(.*?)(?=^## |\Z)", reference, re.MULTILINE | re.DOTALL)
    assert [option for option in commands()[command] if f"`{option}" not in section] == []


def test_the_readme_names_no_command_that_is_not_there() -> None:
    named = re.findall(r"`almanac ([a-z][a-z-]*)", text("README.md") or "")
    assert named
    assert [name for name in named if not any(known.split()[1] == name for known in commands())] == []


def settings() -> list[str]:
    """The variables that people set."""
    found = []
    for name, field in Environment.model_fields.items():
        alias = field.validation_alias
        found.append(str(alias.choices[0] if isinstance(alias, AliasChoices) else alias or f"ALMANAC_{name.upper()}"))
    return sorted(found)


@pytest.mark.parametrize("path", ["docs/operations.md", ".env.example"])
def test_every_setting_is_documented_and_every_documented_one_exists(path: str) -> None:
    named = set(re.findall(r"\bALMANAC_[A-Z_]+\b", text(path) or ""))
    assert sorted(named) == settings()


def test_the_readme_names_the_settings_without_which_nothing_starts() -> None:
    readme = text("README.md") or ""
    assert [
        name for name in ("ALMANAC_APP_ID", "ALMANAC_PRIVATE_KEY", "ALMANAC_WEBHOOK_SECRET") if name not in readme
    ] == []


def test_every_link_between_documents_leads_somewhere() -> None:
    lost = [
        f"{path}: {target}"
        for path in files()
        if path.endswith(".md") and not path.startswith(("tests/", "bot/", "simulator/"))
        for target in MARKDOWN_LINK.findall(text(path) or "")
        if "://" not in target and not (ROOT / path).parent.joinpath(target).exists()
    ]
    assert lost == []


def test_every_decision_is_in_the_index() -> None:
    index = text("docs/decisions/README.md") or ""
    pages = [Path(path).name for path in files() if path.startswith("docs/decisions/0")]
    assert pages
    assert [page for page in pages if f"({page})" not in index] == []


def test_every_threat_names_tests_that_exist() -> None:
    rows = [
        line for line in (text("docs/security.md") or "").splitlines() if line.startswith("| ") and "---" not in line
    ]
    threats = [row.split(" | ") for row in rows if not row.startswith("| threat")]
    tests = {path for path in files() if path.startswith("tests/")}
    functions = {name for path in tests for name in re.findall(r"^(?:async )?def (test_\w+)", text(path) or "", re.M)}
    campaigns = set(re.findall(r"^(campaign-\w+):", text("Makefile") or "", re.M))
    assert len(threats) > 25
    for threat, control, shown in threats:
        named = re.findall(r"`([^`]+)`", shown)
        lost = [one for one in named if one not in tests | functions and one.removeprefix("make ") not in campaigns]
        assert named, f"{threat} has no test"
        assert lost == [], f"{threat}: {lost}"
        assert control


# --- sizes and names -------------------------------------------------------------------------------------------------


def test_modules_are_small() -> None:
    sizes = {path: len((text(path) or "").splitlines()) for path in modules() if not path.startswith(WRITTEN_ONCE)}
    for size, path in sorted(((size, path) for path, size in sizes.items()), reverse=True):
        print(f"{size:5} {path}")
    assert [path for path, size in sizes.items() if size > LONGEST_MODULE] == []
    assert statistics.median(sizes.values()) < MEDIAN_MODULE


def test_handlers_only_decide_what_to_do() -> None:
    long = [
        f"{path}: {node.name} has {node.end_lineno - node.lineno + 1} lines"
        for path in modules("handlers")
        for node in ast.walk(ast.parse(text(path) or ""))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
        if node.end_lineno - node.lineno >= LONGEST_HANDLER
    ]
    assert long == []


def test_a_module_opens_with_what_it_answers() -> None:
    silent = [path for path in modules() if text(path) and _first_token(path) != tokenize.STRING]
    assert silent == []


def _first_token(path: str) -> int:
    """The type of what a module begins with, comments aside."""
    aside = {tokenize.COMMENT, tokenize.NL}
    tokens = tokenize.generate_tokens(io.StringIO(text(path) or "").readline)
    return next(token.type for token in tokens if token.type not in aside)


def test_no_module_has_a_name_that_says_nothing() -> None:
    named = [
        (path, part.removesuffix(".py"))
        for path in modules(*CODE, "tests", "scripts", "benchmarks")
        for part in path.split("/")
    ]
    assert [path for path, part in named if part in BANNED] == []


# --- tests -----------------------------------------------------------------------------------------------------------

OF_NAMED_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
"""public, as Python's documentation says"""


def test_tests_speak_of_behaviour_and_reach_no_private_name() -> None:
    paths = modules("tests", "benchmarks", "scripts")
    found = {path: list(_private_names(ast.parse(text(path) or ""))) for path in paths}
    assert {path: names for path, names in found.items() if names} == {}


def _private_names(tree: ast.Module) -> Iterator[str]:
    """Names with an underscore that are reached into from elsewhere: imported, as attributes, or named in a string.

    A test's own classes and other libraries may have theirs.
    """
    own, foreign = set(_attributes_made(tree)), set(_foreign_modules(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
            parts = [*(node.module or "").split("."), *(name.name for name in node.names)]
            yield from (f"{node.lineno}: import of {part}" for part in parts if _is_private(part))
        elif isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in own:
            if not (isinstance(node.value, ast.Name) and node.value.id in foreign):
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Constant) and _PRIVATE_PATH.fullmatch(str(node.value)):
            yield f"{node.lineno}: {node.value!r}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("setattr", "getattr", "delattr", "patch")):
            said = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield from (f"{node.lineno}: {one!r}" for one in said if _is_private(one))


_PRIVATE_PATH = re.compile(rf"(?:{'|'.join(CODE)})\.(?:\w+\.)*_[a-z\d]\w*(?:\.\w+)*")


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in OF_NAMED_TUPLES


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in (*CODE, "tests", "benchmarks", "scripts")


def _attributes_made(tree: ast.Module) -> Iterator[str]:
    """The attributes and methods of the classes that are defined here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr
        elif isinstance(node, ast.ClassDef):
            yield from (one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
            fields = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
            yield from (field.id for field in fields if isinstance(field, ast.Name))


def _foreign_modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.asname or one.name for one in node.names if not _is_ours(one.name))


@pytest.mark.parametrize(
    ("code", "reached"),
    [
        ("from bot.store.engine import _open", 1),
        ("from bot._store import engine", 1),
        ("store._writer.begin()", 1),
        ("patch.setattr(auth, '_load', 7)", 1),
        ("patch.setattr('bot.app._introduce', 7)", 1),
        ("STEPS = [('facts', 'bot.metrics.measure._fact')]", 1),
        ("import sys\nsys._getframe()", 0),
        ("row._replace(at=7)\nself.__class__", 0),
        ("class Own:\n  def __init__(self, o):\n    self._x = o._x", 0),
        ("patch.setattr(auth, 'load', 7)", 0),
    ],
)
def test_a_private_name_is_seen_however_it_is_reached(code: str, reached: int) -> None:
    assert len(list(_private_names(ast.parse(code)))) == reached


# --- files -----------------------------------------------------------------------------------------------------------


def test_lock_files_hold_no_address() -> None:
    locks = [path for path in files() if Path(path).name in LOCK_FILES]
    assert {"requirements.lock", "development.lock", "ci.lock"} <= set(locks)
    assert [path for path in locks if ADDRESS.search(text(path) or "")] == []


def test_no_document_tells_anybody_to_install_another_distribution() -> None:
    """The names almanac and almanac-bot belong to others."""
    documents = [path for path in files() if path.endswith((".md", ".yml", ".service")) and "decisions" not in path]
    told = {
        (path, word)
        for path in documents
        for match in INSTALL.finditer(text(path) or "")
        for word in match[1].replace('"', " ").split()
        if "almanac" in word.lower() and "/" not in word
    }
    assert "README.md" in {path for path, _ in told}
    assert {word.partition("[")[0] for _, word in told} == {"contributor-almanac"}


def test_both_locks_pin_the_same_versions() -> None:
    running, developing = (
        {*re.findall(r"^\S+==\S+", text(f"{name}.lock") or "", re.MULTILINE)}
        for name in ("requirements", "development")
    )
    assert running
    assert running <= developing


def test_workflows_and_examples_pin_every_action_by_commit_and_name_its_version() -> None:
    workflows = [path for path in files() if path.startswith(".github/workflows/")]
    sources = (*workflows, "action.yml", *(path for path in files() if path.endswith(".md")))
    lines = [(path, line) for path in sources for line in (text(path) or "").splitlines()]
    used = [(path, line) for path, line in lines if re.match(r"\s*-?\s*uses: ", line)]
    used = [row for row in used if "OWNER/almanac@COMMIT" not in row[1]]
    assert {"action.yml", "docs/site.md", *workflows} <= {path for path, _ in used}
    assert [row for row in used if not re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+", row[1])] == []
    assert [path for path in workflows if "permissions:" not in (text(path) or "")] == []


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads(text("pyproject.toml") or "")["project"]["version"]
    assert f"\nversion: {version}\n" in (text("CITATION.cff") or "")
    released = re.findall(r"^## (\d\S*)", text("CHANGELOG.md") or "", re.MULTILINE)
    assert released[0] == version


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    found = [f"{path}: {match[0]}…" for path in files() for match in MACHINE_PATH.finditer(text(path) or "")]
    assert found == []
    for folder in ("work", "root", "home"):
        assert MACHINE_PATH.search(f'open("/{folder}/notes")'), "the pattern itself"


def test_every_todo_and_exception_has_a_reason() -> None:
    silent = [
        f"{path}:{line}: {comment}"
        for path in modules(*CODE, "tests", "scripts", "benchmarks")
        if _EXCEPTIONS.search(text(path) or "")
        for line, comment in comments(path)
        if not _has_reason(comment)
        if "type: ignore" not in comment or not path.startswith("tests/")  # tests are not checked for types
    ]
    assert silent == []


_EXCEPTIONS = re.compile(
    r"#\s*(?:noqa(?::\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)?|type:\s*ignore(?:\[[\w\s,-]*\])?|(?:TODO|FIXME|XXX)\b:?)"
)


def _has_reason(comment: str) -> bool:
    """Whether every `noqa`, `type: ignore` and TODO is followed by words."""
    return all(re.search(r"[A-Za-z]{2,}", comment[found.end() :]) for found in _EXCEPTIONS.finditer(comment))


@pytest.mark.parametrize(
    ("comment", "fine"),
    [
        ("# noqa: S608", False),
        ("# noqa: S608 (the names stand above)", True),
        ("# type: ignore[arg-type]", False),
        ("# type: ignore[arg-type]  # the keys are the fields", True),
        ("# TODO", False),
        ("# TODO: ask GitHub for both", True),
        ("# an ordinary comment", True),
    ],
)
def test_a_comment_with_a_reason_differs_from_one_without(comment: str, fine: bool) -> None:
    assert _has_reason(comment) is fine


def test_every_text_file_ends_with_a_line_end() -> None:
    # a snapshot is what a renderer gives, byte for byte
    content = {path: text(path) for path in files() if not path.startswith("tests/snapshots/")}
    assert [path for path, words in content.items() if words and not words.endswith("\n")] == []


def test_every_template_is_used() -> None:
    templates = [path for path in files() if "/templates/" in path]
    users = "\n".join(text(path) or "" for path in (*modules(), *templates))
    assert templates
    assert [path for path in templates if f'"{Path(path).name}"' not in users] == []
