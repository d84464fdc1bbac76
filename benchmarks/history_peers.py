"""How are other programs that read a history obtained and run?"""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

PEERS = Path("build/peers")
_PYDRILLER = (
    "import sys; from pydriller import Repository\n"
    "print(sum(len(m.diff) for c in Repository(sys.argv[1]).traverse_commits() for m in c.modified_files))"
)
_GITINSPECTOR = "import sys; sys.path.append(sys.argv.pop(1)); from gitinspector.gitinspector import main; main()"


def peers(clone: str) -> Iterator[tuple[str, list[str] | None]]:
    """The name of each peer, and the command that reads the working copy `clone`; None if it is not available."""
    finders: tuple[tuple[str, Callable[[str], list[str] | None]], ...] = (
        ("PyDriller", _pydriller),
        ("git-fame", _git_fame),
        ("gitinspector", _gitinspector),
        ("git-quick-stats", _git_quick_stats),
    )
    for name, command in finders:
        yield name, command(clone)


def _pydriller(clone: str) -> list[str] | None:
    python = _from_pypi("pydriller", "lib/python*/site-packages/pydriller")
    return [str(python), "-c", _PYDRILLER, clone] if python else None


def _git_fame(clone: str) -> list[str] | None:
    python = _from_pypi("git-fame", "lib/python*/site-packages/gitfame")
    return [str(python.with_name("git-fame")), "-e", "--branch", "HEAD", clone] if python else None


def _gitinspector(clone: str) -> list[str] | None:
    python, modules = shutil.which("python3"), _from_debian("gitinspector", "usr/lib/python3/dist-packages")
    return [python, "-c", _GITINSPECTOR, str(modules), "--format=xml", clone] if python and modules else None


def _git_quick_stats(clone: str) -> list[str] | None:
    script = _from_debian("git-quick-stats", "usr/lib/git-core/git-quick-stats")
    return ["sh", "-c", 'cd "$1" && exec bash "$0" -T', str(script), clone] if script else None


def _from_pypi(package: str, known: str) -> Path | None:
    """The Python that has the package; `known` is a glob pattern of one of its files."""
    python = PEERS.absolute() / "bin" / "python"
    if not python.exists():
        venv.create(PEERS, with_pip=True)
    if not any(PEERS.glob(known)):
        _run_quietly([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", package])
    return python if any(PEERS.glob(known)) else None


def _from_debian(package: str, known: str) -> Path | None:
    """A file of the Debian package, unpacked next to the other peers; nothing is installed on the machine."""
    found = PEERS.absolute() / "debian" / known
    if not found.exists() and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        folder = PEERS / "debian"
        folder.mkdir(parents=True, exist_ok=True)
        _run_quietly(["apt-get", "download", "-q", package], folder)
        for archive in folder.glob(f"{package}_*.deb"):
            _run_quietly(["dpkg-deb", "-x", str(archive), str(folder)])
    return found if found.exists() else None


def _run_quietly(command: list[str], folder: Path | None = None) -> None:
    """A failure here shows later, because the file is missing."""
    subprocess.run(command, cwd=folder, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
