"""Do the commands in the documents run? Every block is run here, or says in the comment above it where, or why not."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from msgspec import Struct
from packaging.requirements import Requirement

from bot.cli.main import main
from bot.configuration.keys import link_secrets, snapshot_key
from bot.landing.repo_config.keys import KEYS
from bot.landing.repo_config.options import Errors, read_config
from scripts.docs_site import documents
from scripts.example_clone import ADA, example_clone
from tests.deploy.test_ways_to_run import PROJECT
from tests.test_repository import ROOT, text

LANGUAGES = {"sh", "yaml", "sql", "text", "html"}
FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
STANDS_FOR = {"CLONE...": ".", "WHO": ADA[1]}
MOST_UNRUN = 12
SECTIONS = {key.name.partition(".")[0] for key in KEYS}


class Block(Struct, frozen=True):
    """One fenced block of a document."""

    document: str
    language: str
    body: str
    mark: str

    @property
    def lines(self) -> list[str]:
        """Its commands without comments, each in one line."""
        joined = re.sub(r"\\\n\s*", "", self.body)
        return [line.partition("  #")[0].strip() for line in joined.splitlines() if line.strip()]


def blocks() -> Iterator[Block]:
    for path in documents():
        for found in FENCE.finditer(text(path.as_posix()) or ""):
            yield Block(path.as_posix(), found["language"], found["body"], found["mark"] or "")


SHELL = [block for block in blocks() if block.language == "sh"]
RUN = {block.document: [one for one in SHELL if one.document == block.document and not one.mark] for block in SHELL}


def test_every_block_says_its_language() -> None:
    assert {block.document for block in blocks()} >= {"README.md", "docs/operations.md", "docs/start/data.md"}
    assert [(block.document, block.body[:40]) for block in blocks() if block.language not in LANGUAGES] == []


def test_blocks_that_are_not_run_here_are_few_and_say_why() -> None:
    unrun = [block for block in SHELL if block.mark.startswith("not run here: ")]
    elsewhere = [block for block in SHELL if block.mark.startswith("run by ")]
    assert len(unrun) + len(elsewhere) == sum(bool(block.mark) for block in SHELL), "only these two marks exist"
    print(f"{len(SHELL)} blocks of commands: {len(elsewhere)} run by others, {len(unrun)} not run:")
    print("".join(f"  {block.document}: {block.mark.partition(': ')[2]}\n" for block in unrun))
    assert len(unrun) <= MOST_UNRUN
    named = [
        path
        for block in (*unrun, *elsewhere)
        for path in re.findall(r"\b(?:tests|scripts|deploy)/[\w/.]+\w", block.mark)
    ]
    assert [path for path in named if not (ROOT / path).exists()] == []
    targets = [name for block in SHELL for name in re.findall(r"\bmake ([a-z-]+)", block.mark)]
    assert [name for name in targets if not _is_target(name)] == []


def _is_target(name: str) -> bool:
    return re.search(rf"^{name}:", text("Makefile") or "", re.MULTILINE) is not None


def test_every_yaml_block_is_read_as_it_is_meant() -> None:
    for block in blocks():
        if block.language != "yaml":
            continue
        loaded = yaml.safe_load(block.body)
        assert isinstance(loaded, dict), block
        if loaded.keys() <= SECTIONS:
            assert not isinstance(read_config(block.body), Errors), block


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example_clone(tmp_path_factory.mktemp("documented") / "rocket")


@pytest.mark.parametrize("document", [name for name, found in RUN.items() if found])
def test_the_commands_of_a_document_run_in_its_order(
    document: str, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "rocket"
    subprocess.run(["cp", "-a", sample, clone], check=True)
    for name in [name for name in os.environ if name.startswith("ALMANAC_") or name == "PORT"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(clone)
    _prepare(clone)
    failed = [line for block in RUN[document] for line in block.lines if not _runs(line, clone)]
    assert failed == []


def _prepare(clone: Path) -> None:
    """What the documents assume: a published profile, a file of the repository's settings, a bot that ran here."""
    (clone / ".github/almanac.yml").write_text("lines:\n  generated: [api/client/**]\n")
    (clone / "almanac-data").mkdir()
    link_secrets(clone / "almanac-data/links.key")
    snapshot_key(clone / "almanac-data/snapshots.key")
    with pytest.raises(SystemExit):
        main(["profile", ".", "--author", ADA[1], "--output", "profile.json"])


def _runs(line: str, clone: Path) -> bool:
    for word, value in STANDS_FOR.items():
        line = line.replace(word, value)
    words = shlex.split(line)
    if words[:2] == ["pip", "install"]:
        return all(_is_ours(word) for word in words[2:])
    if words[0] == "make":
        return _is_target(words[1])
    if words[0] == "almanac":
        return _command(words[1:], clone)
    return (
        subprocess.run(["bash", "-eo", "pipefail", "-c", line], cwd=clone, capture_output=True, check=False).returncode
        == 0
    )


def _is_ours(requirement: str) -> bool:
    """Whether this is the distribution, with an extra that exists; `make package` installs it."""
    asked, project = Requirement(requirement), PROJECT["project"]
    return asked.name == project["name"] and asked.extras <= project["optional-dependencies"].keys()


def _command(words: list[str], clone: Path) -> bool:
    """Whether the command exits with 0; `doctor` says 1 where no App is registered."""
    target = words.index(">") if ">" in words else len(words)
    with pytest.raises(SystemExit) as ended:
        main(words[:target])
    return ended.value.code in ((0, 1) if words[0] == "doctor" else (0, None))
