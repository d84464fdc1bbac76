"""Do all ways to run Almanac name existing commands, settings and versions, and is every needed file shipped?"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from hatchling.builders.wheel import WheelBuilder

from bot.cli.main import app
from bot.configuration.package_files import shipped_file
from bot.setup.manifest import app_manifest
from bot.web.pages import ROUTES
from tests.test_repository import ROOT, settings

DEPLOY = ROOT / "deploy"
UNIT, CONTAINER, COMPOSE = DEPLOY / "almanac.service", DEPLOY / "Containerfile", DEPLOY / "compose.yaml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SHIPS = "force-include" in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]


def commands() -> set[str]:
    return set(getattr(typer.main.get_command(app), "commands", {}))


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return loaded


def test_every_way_to_run_starts_existing_commands() -> None:
    started = re.findall(r"almanac (\w+)", (ROOT / "Procfile").read_text())
    started += re.findall(r"^ExecStart=\S+/almanac (\w+)$", UNIT.read_text(), re.MULTILINE)
    started += re.findall(r'^CMD \["(\w+)"\]$', CONTAINER.read_text(), re.MULTILINE)
    started += [service["command"] for service in compose()["services"].values() if "command" in service]
    assert sorted(started) == ["migrate", "serve", "serve", "serve", "serve", "worker", "worker"]
    assert set(started) <= commands()


@pytest.mark.parametrize("file", [UNIT, CONTAINER, COMPOSE], ids=lambda file: file.name)
def test_every_setting_that_is_named_exists(file: Path) -> None:
    named = set(re.findall(r"\bALMANAC_[A-Z][A-Z_]*\b", file.read_text()))
    assert named
    assert named <= set(settings())


def test_the_container_has_a_python_that_is_supported() -> None:
    found = re.search(r"^ARG PYTHON=(\d+\.\d+)$", CONTAINER.read_text(), re.MULTILINE)
    assert found
    assert f"Programming Language :: Python :: {found[1]}" in PROJECT["project"]["classifiers"]


def test_the_container_runs_unprivileged_and_writes_only_to_its_volume() -> None:
    text = CONTAINER.read_text()
    assert re.search(r"^USER (\d{4,}):\1$", text, re.MULTILINE)
    assert "VOLUME /data" in text
    assert "ALMANAC_DATA=/data" in text
    for name in ("almanac", "worker"):
        service = compose()["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["volumes"] == ["kept:/data"]


def test_the_health_check_asks_an_address_that_is_served() -> None:
    assert "/healthz" in CONTAINER.read_text()
    assert "/healthz" in [path for path, _ in ROUTES]


def test_the_container_installs_only_hash_checked_files() -> None:
    text = CONTAINER.read_text()
    assert re.search(r"pip download .*--require-hashes --requirement requirements\.lock --dest /verified$", text, re.M)
    assert re.search(r"pip .*install .*--no-index --find-links /verified ", text)
    locked = (ROOT / "requirements.lock").read_text()
    pinned = {name.lower().replace("_", "-") for name in re.findall(r"^([\w.-]+)==", locked, re.MULTILINE)}
    project = PROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["postgres"]]
    wanted += PROJECT["build-system"]["requires"]
    names = {re.split(r"[\[<>=!~ ;]", line)[0].lower() for line in wanted}
    assert names - pinned == set()


EVERYWHERE = "0.0.0.0"  # noqa: S104  # compared, not bound

_TELLS_ITS_SETTINGS = """#!/bin/sh
echo "$1|$ALMANAC_DATABASE_URL|$ALMANAC_HOST"
"""


@pytest.mark.parametrize(
    ("given", "database", "host"),
    [
        ({"DATABASE_URL": "postgres://there"}, "postgres://there", EVERYWHERE),
        ({"DATABASE_URL": "postgres://there", "ALMANAC_DATABASE_URL": "sqlite:///a"}, "sqlite:///a", EVERYWHERE),
        ({"ALMANAC_HOST": "::"}, "", "::"),
    ],
)
def test_a_platform_gives_its_database_and_reaches_the_web_process(
    tmp_path: Path, given: dict[str, str], database: str, host: str
) -> None:
    stand_in = tmp_path / "almanac"
    stand_in.write_text(_TELLS_ITS_SETTINGS)
    stand_in.chmod(0o755)
    lines = re.findall(r"^(\w+): (.*)$", (ROOT / "Procfile").read_text(), re.MULTILINE)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", **given}
    told = {
        name: subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, check=True).stdout
        for name, line in lines
    }
    elsewhere = given.get("ALMANAC_HOST", "")
    assert told == {
        "release": f"migrate|{database}|{elsewhere}\n",
        "web": f"serve|{database}|{host}\n",
        "worker": f"worker|{database}|{elsewhere}\n",
    }


def test_the_image_is_built_from_files_that_are_there() -> None:
    kept = [line[1:] for line in (DEPLOY / "Containerfile.dockerignore").read_text().splitlines() if line[:1] == "!"]
    assert [name for name in kept if not (ROOT / name).exists()] == []
    assert {"app.yml", "docs/metrics.md", "bot", "handlers", "simulator"} <= set(kept)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="NO SYSTEMD: its unit was not verified")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text(), flags=re.MULTILINE)
    (tmp_path / "almanac.service").write_text(text)
    found = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / "almanac.service"], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")


_WITHOUT_THE_EXTRA = """
import os, sys
sys.modules.update(psycopg=None, procrastinate=None)
from bot.cli.main import main
for os.environ["ALMANAC_DATABASE_URL"] in sys.argv[1:]:
    for command in (["migrate"], ["doctor", "--no-network"]):
        try:
            main(command)
        except SystemExit as ended:
            print("exit", ended.code or 0)
"""


def test_without_the_extra_sqlite_works_and_postgresql_is_reported_in_one_line(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", _WITHOUT_THE_EXTRA, "sqlite:///a.db", "postgresql://127.0.0.1:1/a"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    codes = [line for line in found.stdout.splitlines() if line.startswith("exit")]
    assert codes == ["exit 0", "exit 1", "exit 2", "exit 1"], found.stderr
    assert "WRONG database: cannot be used: PostgreSQL needs psycopg: install" in found.stdout
    assert (tmp_path / "a.db").exists()
    assert found.stderr.startswith("almanac: PostgreSQL needs psycopg: install")
    assert found.stderr.count("\n") == 1


# --- what is installed -----------------------------------------------------------------------------------------------


def test_files_outside_the_packages_are_found_in_the_checkout() -> None:
    assert app_manifest()["name"] == "Almanac"
    assert shipped_file("docs/metrics.md").read_text("utf-8").startswith("# ")


@pytest.mark.skipif(not SHIPS, reason="THE WHEEL SHIPS NO app.yml: pyproject.toml has no force-include")
def test_the_wheel_holds_every_file_the_bot_reads() -> None:
    wheel = {one.distribution_path for one in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {"bot/shipped/app.yml", "bot/shipped/metrics.md"} <= wheel
    tracked = [path for folder in ("bot", "handlers", "simulator") for path in (ROOT / folder).rglob("*")]
    read = {str(path.relative_to(ROOT)) for path in tracked if path.is_file() and path.suffix not in {".pyc", ".py"}}
    assert {"bot/render/templates/setup.html", "simulator/story.toml", "bot/metrics/kind_model.json.gz"} <= read
    assert read - wheel == set()
