"""Are mutants made of what matters, killed by a good test, and alive beside a weak one?"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.campaigns.mutants import mutants_of
from tests.campaigns.mutation import ROOT
from tests.campaigns.mutation_rooms import NAMED, ROOMS

SOURCE = '''
"""A docstring."""
LIMIT = 3

def count(rows: list[int], most: int = LIMIT) -> bool:
    """Another."""
    log.info("not counted")
    if not rows:
        raise ValueError("no rows")
    save(rows)
    return len(rows) <= most and any(rows)
'''
STRONG = """
from bot.web.signature import Secrets, is_well_formed

def test_two_secrets() -> None:
    import hashlib, hmac
    secrets = Secrets(["a" * 32, "b" * 32])
    header = "sha256=" + hmac.new(b"b" * 32, b"body", hashlib.sha256).hexdigest()
    assert secrets.verify(b"body", header)
"""
WEAK = """
from bot.web.signature import Secrets

def test_it_runs() -> None:
    assert not Secrets(["a" * 32]).verify(b"body", None)
"""
SCRIPT = """
import sys
from tests.campaigns.mutants import Mutant
from tests.campaigns.mutation import ROOT, Trial, survives
source = (ROOT / "bot/web/signature.py").read_text()
for before, after in (("any(fits)", "all(fits)"), ("any(fits)", "next(iter(int, 1))")):
    assert source.count(before) == 1
    for test in sys.argv[1:]:
        trial = Trial("bot/web/signature.py", Mutant(1, after, source.replace(before, after)), (test,))
        print("survived" if survives(trial, cpu_seconds=2) else "killed")
"""


def test_changes_are_made_of_code_and_not_of_messages() -> None:
    changes = [mutant.change for mutant in mutants_of(SOURCE)]
    assert changes == [
        "other constant: 3",
        "condition negated: if not rows: raise ValueError('no rows')",
        "not negated: not rows",
        "call removed: save(rows)",
        "nothing returned: return len(rows) <= most and any(rows)",
        "and/or: len(rows) <= most and any(rows)",
        "other comparison: len(rows) <= most",
        "all instead: any",
    ]


def test_each_mutant_is_one_change_of_the_named_functions() -> None:
    assert [mutant.line for mutant in mutants_of(SOURCE, frozenset({"LIMIT"}))] == [3]
    assert len({mutant.source for mutant in mutants_of(SOURCE)}) == 8


def test_a_strong_test_kills_what_survives_a_weak_one(tmp_path: Path) -> None:
    """One mutant is wrong; the other never ends."""
    tests = {"strong": STRONG, "weak": WEAK}
    for name, text in tests.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *(str(tmp_path / f"test_{name}.py") for name in tests)],
        cwd=ROOT,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["killed", "survived"] * 2


def test_all_rooms_and_named_mutants_are_in_the_present_code() -> None:
    for room in ROOMS:
        assert all((ROOT / test).is_file() for test in room.tests), room.name
        for path, only in room.modules:
            assert next(mutants_of((ROOT / path).read_text(), frozenset(only.split()))), room.name
    assert all(named.mutant(ROOT) for named in NAMED)
