"""Is the package fit to be released: both files built, checked, installed outside the tree, and used?

Run it with `make package`. It needs an index for the dependencies, which uv's own settings name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
BIN = Path(sys.executable).parent


def run(*words: str | Path, cwd: Path = ROOT) -> str:
    """The output of a command; the script ends with its error if it fails."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([*map(str, words)], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build() -> list[Path]:
    """The sdist and the wheel."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(BIN / "python", "-m", "hatchling", "build", "-d", DIST)
    return sorted(DIST.iterdir())


def use(wheel: Path, version: str) -> None:
    """Install the wheel with its locked dependencies in a clean environment, and run the command there."""
    with tempfile.TemporaryDirectory(prefix="almanac-package-") as made:
        folder = Path(made)
        run(BIN / "uv", "venv", "--quiet", "--python", sys.executable, folder / "venv", cwd=folder)
        python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        install = (BIN / "uv", "pip", "install", "--quiet", "--python", python)
        run(*install, "--no-deps", "--require-hashes", "-r", ROOT / "requirements.lock", cwd=folder)
        run(*install, "--no-deps", wheel, cwd=folder)
        printed = run(python.parent / "almanac", "--version", cwd=folder)
        if not printed.startswith(f"almanac {version},"):
            sys.exit(f"almanac --version prints {printed!r}, not {version}")
        run(python.parent / "almanac", "demo", "--once", cwd=folder)


def main() -> None:
    version = str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])
    found = build()
    names = [path.name for path in found]
    stem = f"contributor_almanac-{version}"
    if names != [f"{stem}-py3-none-any.whl", f"{stem}.tar.gz"]:
        sys.exit(f"dist holds {', '.join(names)}")
    run(BIN / "twine", "check", "--strict", *found)
    run(BIN / "check-wheel-contents", found[0])
    use(found[0], version)
    print(f"{' and '.join(names)}: built, checked, installed and used")


if __name__ == "__main__":
    main()
