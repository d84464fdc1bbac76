"""Do processes with the same keys open each other's links and verify each other's snapshots?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from bot.configuration.settings import load_settings
from bot.configuration.signing import is_signed
from bot.model.ids import Month
from bot.services.context import Context
from bot.store import links, snapshots
from bot.store.engine import Store
from bot.store.links import Link
from bot.store.visibility import subject_of_person
from bot.web.collaborators import Pages, build_pages
from bot.web.month_snapshots import take_month_snapshots
from tests.databases import database_url, store
from tests.test_repository import ROOT
from tests.web.library import ACME, ADA_KEY, NOW, fill, publish, serve

__all__ = ["database_url", "store"]

LINKS, SNAPSHOTS = "links.key", "snapshots.key"
by_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="NO openssl PROGRAM: the page's lines were not tried"
)
Machine = Callable[[str], Pages]


@pytest.fixture
async def page_text(store: Store) -> None:
    """There is a page to link to, and to take snapshots of."""
    await fill(store)
    await publish(store)


@pytest.fixture
def machine(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """The pages of a process with a data folder of its own, and what the environment settles."""
    for name in ("ALMANAC_LINKS_KEY", "ALMANAC_SNAPSHOTS_KEY"):
        monkeypatch.delenv(name, raising=False)

    def start(name: str) -> Pages:
        monkeypatch.setenv("ALMANAC_DATA", str(tmp_path / name))
        place = cast(Context, SimpleNamespace(store=store, clock=lambda: NOW))
        return build_pages(load_settings(env_files=()), place)

    return start


def files(folder: Path) -> dict[str, bytes]:
    """The files of keys in a folder, by name."""
    return {path.name: path.read_bytes() for path in folder.glob("*.key")}


def pasted(number: int, folder: Path) -> str:
    """What one of the operations page's four lines prints in a folder: two for new keys, two for those in files."""
    told = (ROOT / "docs" / "operations.md").read_text("utf-8")
    section = told.partition("### The keys of links and snapshots\n")[2].partition("\n## ")[0]
    lines = [line for block in re.findall(r"```(?:sh)?\n(.*?)```", section, re.DOTALL) for line in block.splitlines()]
    assert len(lines) == 4
    done = subprocess.run(["sh", "-c", lines[number]], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


async def vouched(taker: Pages, shower: Pages) -> tuple[bool, bool]:
    """Whether a link minted by one process opens at another, and a snapshot signed by the one is by the other's key."""
    subject = subject_of_person(ADA_KEY)
    with taker.store.transaction() as connection:
        token = links.mint(connection, Link(subject, ACME), secret=taker.secret, now=NOW)
    assert await take_month_snapshots(taker, ADA_KEY, Month("2026-02")) > 0
    with taker.store.snapshot() as connection:
        taken = snapshots.snapshot_entries(connection, [ADA_KEY])
    async with serve(shower.store, secret=shower.secret, signing=shower.signing) as site:
        status, _, _ = await site.get(f"/p/{token}")
        (key,) = json.loads(await site.text("/.well-known/almanac-key.json"))["keys"]
        sealed = json.loads(await site.text(f"/@ada-example/snapshots/{taken[0].id}"))
    assert status in {200, 404}
    signed = is_signed(sealed["profile"], sealed["signature"], key["public_key"])
    assert signed is (sealed["key"] == key["id"])
    return status == 200, signed


@by_openssl
async def test_machines_with_the_keys_that_the_operations_page_makes_vouch_for_each_other(
    page_text: None, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALMANAC_LINKS_KEY", pasted(0, tmp_path))
    monkeypatch.setenv("ALMANAC_SNAPSHOTS_KEY", pasted(1, tmp_path))
    assert await vouched(machine("one"), machine("other")) == (True, True)
    assert files(tmp_path / "one") == files(tmp_path / "other") == {}


async def test_machines_without_shared_keys_do_not_vouch_for_each_other(page_text: None, machine: Machine) -> None:
    assert await vouched(machine("one"), machine("other")) == (False, False)


async def test_each_folder_has_one_key_pair_readable_only_by_its_owner(machine: Machine, tmp_path: Path) -> None:
    first = machine("one")
    kept = files(tmp_path / "one")
    again = machine("one")
    assert (first.secret, first.signing.id) == (again.secret, again.signing.id)  # type: ignore[union-attr]  # always there
    assert files(tmp_path / "one") == kept
    assert [(tmp_path / "one" / name).stat().st_mode & 0o777 for name in (LINKS, SNAPSHOTS)] == [0o600, 0o600]


@by_openssl
async def test_the_keys_of_a_folder_can_be_moved_to_settings(
    page_text: None, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = machine("almanac-data")
    monkeypatch.setenv("ALMANAC_LINKS_KEY", pasted(2, tmp_path))
    monkeypatch.setenv("ALMANAC_SNAPSHOTS_KEY", pasted(3, tmp_path))
    assert await vouched(before, machine("other")) == (True, True)


async def test_a_setting_overrides_the_file_and_leaves_the_other_key_unchanged(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filed = machine("one")
    kept = files(tmp_path / "one")
    monkeypatch.setenv("ALMANAC_LINKS_KEY", "5e" * 32)
    settled, elsewhere = machine("one"), machine("two")
    assert settled.secret == elsewhere.secret == b"\x5e" * 32 != filed.secret
    assert settled.signing.id == filed.signing.id  # type: ignore[union-attr]  # it is always there
    assert (files(tmp_path / "one"), kept[LINKS]) == (kept, filed.secret)
    assert set(files(tmp_path / "two")) == {SNAPSHOTS}
