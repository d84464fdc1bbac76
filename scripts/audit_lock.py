"""Does a package that Almanac runs with have a known vulnerability? Fails also if any package could not be checked.

    python -m scripts.audit_lock [LOCK]

pip-audit leaves out what its service does not answer for, and succeeds all the same. This compares its report with the
lock.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PIP_AUDIT = "pip-audit==2.9.0"
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;]+)", re.MULTILINE)


def locked(lock: str) -> set[tuple[str, str]]:
    """Name and version of each package in the text of a lock."""
    return {(_normal(name), version) for name, version in _PINNED.findall(lock)}


def findings(lock: str, report: str) -> list[str]:
    """What is wrong, one line each: vulnerabilities, and packages of the lock that the report does not answer for."""
    try:
        rows = list(json.loads(report)["dependencies"])
    except (ValueError, KeyError, TypeError):
        return ["not checked: the audit gave no report"]
    checked = {(_normal(row["name"]), row["version"]) for row in rows if "vulns" in row and "version" in row}
    missing = sorted(locked(lock) - checked)
    lines = [f"not checked: {name} {version}" for name, version in missing]
    for row in rows:
        lines += [f"vulnerable: {row['name']} {row['version']}: {one['id']}" for one in row.get("vulns", ())]
    return lines


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def plain_lock(lock: str) -> str:
    """The lock's versions alone, without conditions: a package of another system is audited too."""
    return "".join(f"{name}=={version}\n" for name, version in sorted(locked(lock)))


def main(arguments: Sequence[str]) -> int:
    path = Path(arguments[0] if arguments else "requirements.lock")
    lock = path.read_text("utf-8")
    plain = Path("build") / "audited.txt"
    plain.parent.mkdir(exist_ok=True)
    plain.write_text(plain_lock(lock), "utf-8")
    command = ["uv", "tool", "run", PIP_AUDIT, "--strict", "--no-deps", "--disable-pip", "--format", "json"]
    done = subprocess.run([*command, "--requirement", str(plain)], capture_output=True, text=True, check=False)
    found = findings(lock, done.stdout)
    for line in found:
        print(line)
    if found:
        print(done.stderr.strip()[-500:])
        return 1
    print(f"{len(locked(lock))} packages of {path} checked, no known vulnerability")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
