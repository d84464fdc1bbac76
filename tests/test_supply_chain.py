"""Do the audit and the list of contents answer for every package of the lock?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from scripts.audit_lock import findings, locked, plain_lock

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text()


def _report(*, without: str = "", vulnerable: str = "") -> str:
    rows = [
        {"name": name, "version": version, "vulns": [{"id": "PYSEC-2031-1"}] if name == vulnerable else []}
        for name, version in sorted(locked(LOCK))
        if name != without
    ]
    return json.dumps({"dependencies": rows, "fixes": []})


def test_an_audit_of_every_package_finds_nothing() -> None:
    assert len(locked(LOCK)) > 40
    assert locked(plain_lock(LOCK)) == locked(LOCK)
    assert findings(LOCK, _report()) == []


def test_a_package_that_was_not_checked_fails_the_audit() -> None:
    assert findings(LOCK, _report(without="aiohttp"))[0].startswith("not checked: aiohttp ")
    skipped = json.loads(_report(without="aiohttp"))
    skipped["dependencies"].append({"name": "aiohttp", "skip_reason": "the service is out of reach"})
    assert findings(LOCK, json.dumps(skipped))[0].startswith("not checked: aiohttp ")
    for nothing in ("", "{}", '{"dependencies": null}'):
        assert findings(LOCK, nothing) == ["not checked: the audit gave no report"]


def test_a_vulnerable_package_fails_the_audit() -> None:
    (line,) = findings(LOCK, _report(vulnerable="aiohttp"))
    assert line.startswith("vulnerable: aiohttp ")
    assert line.endswith("PYSEC-2031-1")


def test_the_list_of_contents_has_every_package_of_the_lock_with_its_hashes(tmp_path: Path) -> None:
    tool = Path(sys.executable).with_name("cyclonedx-py")
    output = tmp_path / "sbom.json"
    command = [str(tool), "requirements", "requirements.lock", "--pyproject", "pyproject.toml", "--output-reproducible"]
    subprocess.run([*command, "-o", str(output)], cwd=ROOT, check=True, capture_output=True)
    components = json.loads(output.read_text())["components"]
    assert {(one["name"].lower(), one["version"]) for one in components} == locked(LOCK)
    assert all(one["externalReferences"][0]["hashes"] for one in components)
