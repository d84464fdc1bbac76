"""Does everything that Almanac needs to run install without a compiler?

    python scripts/check_wheels.py          # or: make wheels

Asks the configured index for binary wheels of each runtime dependency, at the version that requirements.lock pins, for
every system and Python that Almanac supports, and prints what is missing first. Ends with 1 where something is missing;
for the next Python it only lists what has no wheel yet.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

UV = Path(sys.executable).with_name("uv")
LOCK = Path("requirements.lock")
SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
NEXT = ("3.15",)
SYSTEMS = {
    "Linux, glibc, x86-64": "x86_64-manylinux_2_28",
    "Linux, glibc, arm64": "aarch64-manylinux_2_28",
    "Linux, musl, x86-64": "x86_64-unknown-linux-musl",
    "Linux, musl, arm64": "aarch64-unknown-linux-musl",
    "macOS, x86-64": "x86_64-apple-darwin",
    "macOS, arm64": "aarch64-apple-darwin",
    "Windows, x86-64": "x86_64-pc-windows-msvc",
}
_ABSENT = re.compile(r"no (?:usable )?wheels|only-binary|building from source is disabled|no-build", re.IGNORECASE)


def runtime_requirements() -> list[str]:
    """What a user installs, extras included and without the tools of developers, as pinned lines with their markers."""
    pins = re.findall(r"^[A-Za-z0-9._-]+==[^\\\n]+", LOCK.read_text(), re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "pins.txt"
        constraints.write_text("\n".join(pins))
        bare = ("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--quiet")
        command = [str(UV), "pip", "compile", "--universal", "--python-version", "3.11", "--all-extras", *bare]
        done = subprocess.run(
            [*command, "-c", str(constraints), "pyproject.toml"], capture_output=True, text=True, check=False
        )
    if done.returncode:
        sys.exit(done.stderr)
    return [line for line in done.stdout.splitlines() if line.strip()]


def missing(requirements: list[str], system: str, python: str) -> list[str]:
    """Those without a wheel for one system and Python."""
    if not refusal_of(requirements, system, python):
        return []
    found = []
    for requirement in requirements:
        refusal = refusal_of([requirement], system, python)
        if refusal and not _ABSENT.search(refusal):
            sys.exit(f"{requirement} could not be looked for:\n{refusal}")
        if refusal:
            found.append(requirement.partition(" ")[0])
    return found


def refusal_of(requirements: list[str], system: str, python: str) -> str:
    """What uv says where it cannot install all of them from wheels; empty where it can."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = ("--dry-run", "--only-binary", ":all:", "--no-deps", "--target", folder)
        where = ("--python-platform", SYSTEMS[system], "--python-version", python)
        done = subprocess.run([UV, "pip", "install", *wanted, *where, *requirements], capture_output=True, text=True)
    return done.stderr or "no reason given" if done.returncode else ""


def main() -> None:
    requirements = runtime_requirements()
    cells = [(system, python) for python in (*SUPPORTED, *NEXT) for system in SYSTEMS]
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(cells, pool.map(lambda cell: missing(requirements, *cell), cells), strict=True))
    lacking = [cell for cell in cells if found[cell] and cell[1] in SUPPORTED]
    for cell in sorted(cells, key=lambda cell: (cell not in lacking, not found[cell])):
        system, python = cell
        state = ", ".join(found[cell]) or "all"
        print(f"{'MISSING' if cell in lacking else 'later' if found[cell] else 'ok':8} {python:5} {system:22} {state}")
    targets = len(SUPPORTED) * len(SYSTEMS)
    print(f"{len(requirements)} runtime dependencies, {len(lacking)} of {targets} targets lack a wheel")
    sys.exit(1 if lacking else 0)


if __name__ == "__main__":
    main()
