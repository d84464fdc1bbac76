"""Does a closing month create one permanent signed snapshot per page, with the same bytes wherever it is computed?"""

from __future__ import annotations

import asyncio
import json
import re
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from bot.cli.recomputing.verify import verify
from bot.configuration.signing import SigningKey, signing_key
from bot.history.opening import open_clones
from bot.history.patches import PatchReader
from bot.history.record import CloneRecord
from bot.jobs import JOBS
from bot.landing.lines.split import read_files
from bot.metrics.line_fates import own_commits
from bot.metrics.line_hashes import hash_lines
from bot.model.commit import Repository
from bot.model.fact import Evidence, Fact
from bot.model.ids import Month, RepositoryId, UserId
from bot.queue.embedded import EmbeddedQueue
from bot.queue.worker import Worker
from bot.services.context import Context
from bot.services.snapshots import defer_snapshots
from bot.store import backfills, choices, installations, snapshots, visibility
from bot.store.backfills import Backfill
from bot.store.engine import Store
from bot.store.observations import Observation, observe
from bot.store.visibility import subject_of_person
from bot.web.collaborators import Pages
from bot.web.month_snapshots import take_month_snapshots
from tests.databases import DATABASES, database_url, fresh_database, store
from tests.history.repository import BEN
from tests.history.repository import Repository as Clone
from tests.web.library import (
    ACME,
    ADA,
    ADA_KEY,
    CLOSED,
    NOW,
    OPEN,
    SECRET,
    fact,
    fill,
    keep,
    mint,
    publish,
    serve,
)

__all__ = ["database_url", "store"]

FEBRUARY, MARCH = Month("2026-02"), Month("2026-03")
LATER = datetime(2026, 4, 9, tzinfo=UTC)
SNAPSHOT = re.compile(r"/@ada-example/snapshots/([0-9a-f]{32})")


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return signing_key(tmp_path / "key.pem")


def pages_of(store: Store, key: SigningKey | None, now: datetime = NOW) -> Pages:
    return Pages(store, "https://almanac.example", ZoneInfo("UTC"), lambda: now, SECRET, signing=key)


async def closing(store: Store, key: SigningKey, now: datetime, *, processes: int = 1) -> list[snapshots.SnapshotEntry]:
    """Look for months that are over, in several processes at once, do the jobs, and list what was taken."""
    worker = Worker(store, clock=lambda: now)
    queue = EmbeddedQueue(worker)
    place = cast(
        Context,
        SimpleNamespace(
            store=store,
            queue=queue,
            zone=ZoneInfo("UTC"),
            clock=lambda: now,
            take_snapshots=partial(take_month_snapshots, pages_of(store, key, now)),
        ),
    )
    kind = JOBS["take_snapshots"]
    queue.register("take_snapshots", lambda job: kind.function(job, place), kind.time_out, kind.max_attempts)
    await asyncio.gather(*(defer_snapshots(place) for _ in range(processes)))
    await queue.drain()
    with store.snapshot() as connection:
        return snapshots.snapshot_entries(connection, [ADA_KEY])


async def test_a_closed_month_is_dated_once_by_any_number_of_processes(store: Store, key: SigningKey) -> None:
    await fill(store)
    await publish(store)
    first = await closing(store, key, NOW, processes=3)
    assert [(one.month, one.repositories) for one in first] == [(FEBRUARY, (OPEN,))]
    assert await closing(store, key, NOW, processes=2) == first
    again = await closing(store, key, LATER)
    assert [one.month for one in again] == [MARCH, FEBRUARY]


async def test_a_month_closes_one_day_after_its_end(store: Store, key: SigningKey) -> None:
    await fill(store)
    await publish(store)
    assert [one.month for one in await closing(store, key, datetime(2026, 3, 1, 23, tzinfo=UTC))] == []
    assert [one.month for one in await closing(store, key, datetime(2026, 3, 2, 1, tzinfo=UTC))] == [FEBRUARY]


async def test_missed_months_are_caught_up_and_one_without_work_leaves_nothing(store: Store, key: SigningKey) -> None:
    await fill(store)
    await publish(store)
    await closing(store, key, NOW)
    found = await closing(store, key, datetime(2026, 7, 9, tzinfo=UTC))
    assert [one.month for one in found] == [MARCH, FEBRUARY]


async def test_a_person_without_a_page_gets_no_snapshot(store: Store, key: SigningKey) -> None:
    await fill(store)
    assert await closing(store, key, NOW) == []
    assert await take_month_snapshots(pages_of(store, None), ADA_KEY, FEBRUARY) == 0


async def test_private_work_is_only_in_the_snapshot_of_a_link_made_for_it(store: Store, key: SigningKey) -> None:
    await fill(store)
    await publish(store)
    open_token, private_token = await mint(store), await mint(store, private=True)
    found = await closing(store, key, LATER)
    assert {(one.month, one.repositories) for one in found} == {(MARCH, (OPEN,)), (MARCH, (OPEN, CLOSED))}
    async with serve(store, signing=key) as site:
        for base, private in (("/@ada-example", False), (f"/p/{open_token}", False), (f"/p/{private_token}", True)):
            (link,) = re.findall(re.escape(base) + r"/snapshots/[0-9a-f]{32}", await site.text(base))
            assert ("Plan the secret" in await site.text(link)) is private
            hidden = {one.id for one in found if CLOSED in one.repositories}
            if not private:
                assert [(await site.get(f"{base}/snapshots/{one}"))[0] for one in hidden] == [404]


async def test_a_snapshot_stays_as_it_is_whatever_lands_later(store: Store, key: SigningKey) -> None:
    await fill(store)
    await publish(store)
    await closing(store, key, NOW)
    async with serve(store, signing=key, clock=lambda: LATER) as site:
        (name,) = SNAPSHOT.findall(await site.text("/@ada-example"))
        before = await site.get(f"/@ada-example/snapshots/{name}")
        told = json.loads(json.loads(before[2])["profile"])
        assert (told["generated_at"], told["overall"]["commits"]) == ("2026-02-28T23:59:59Z", 1)
        await keep(store, OPEN, [fact(-101, "acme/open", title="Came late"), fact(90, "acme/open")])
        await closing(store, key, LATER)
        assert await site.get(f"/@ada-example/snapshots/{name}") == before
        assert len(SNAPSHOT.findall(await site.text("/@ada-example"))) == 2


@pytest.mark.parametrize("why", ["erased", "opted out", "hidden", "privatised", "renamed as nobody"])
async def test_a_snapshot_disappears_with_what_it_shows(store: Store, key: SigningKey, why: str) -> None:
    await fill(store)
    await publish(store)
    (taken,) = await closing(store, key, NOW)
    with store.transaction() as connection:
        if why == "erased":
            choices.forget(connection, ADA_KEY, NOW)
        elif why == "opted out":
            choices.opt_out(connection, ADA_KEY, NOW)
        elif why == "hidden":
            visibility.hide_repository(connection, ADA_KEY, OPEN, hidden=True)
        elif why == "privatised":
            installations.save_repositories(connection, ACME, [Repository("acme/open", OPEN, private=True)], NOW)
        else:
            visibility.set_naming(connection, subject_of_person(ADA_KEY), "anonymous")
            alias = visibility.person_state(connection, ADA_KEY).alias  # type: ignore[union-attr]  # she is there
    async with serve(store, signing=key) as site:
        bases = ["/@ada-example", *([f"/anonymous/{alias}"] if why == "renamed as nobody" else [])]
        for base in bases:
            assert await site.get(f"{base}/snapshots/{taken.id}") == await site.get("/@nobody-at-all")
    with store.snapshot() as connection:
        assert bool(snapshots.snapshot_entries(connection, [ADA_KEY])) is (why != "erased")


@pytest.mark.parametrize("naming", ["named", "anonymous"])
async def test_a_snapshot_includes_repositories_with_only_a_review(
    store: Store, key: SigningKey, naming: visibility.Naming
) -> None:
    """Hidden later, such a repository takes the snapshot with it, and from the page its review goes at once."""
    await fill(store)
    await publish(store, naming=naming)
    beside = RepositoryId(12)
    at = NOW.replace(month=2, day=10)
    review = Observation(beside, 9, "review", "1:approved", at, {"state": "approved"}, ADA_KEY)
    with store.transaction() as connection:
        installations.save_repositories(connection, ACME, [Repository("acme/beside", beside)], NOW)
        observe(connection, [review, replace(review, repository_id=CLOSED, number=8)])
    (taken,) = await closing(store, key, NOW)
    assert taken.repositories == (OPEN, beside)
    with store.snapshot() as connection:
        state = visibility.person_state(connection, ADA_KEY)
    assert state is not None
    base = "/@ada-example" if naming == "named" else f"/anonymous/{state.alias}"
    async with serve(store, signing=key) as site:
        page = await site.text(base)
        assert "acme/beside/pull/9" in page
        assert "reviewed 1 pull request of others" in page
        assert "secret-plan" not in page
        with store.transaction() as connection:
            installations.save_repositories(connection, ACME, [Repository("acme/beside", beside, private=True)], NOW)
        assert (await site.get(f"{base}/snapshots/{taken.id}"))[0] == 404
    async with serve(store, signing=key) as site:
        assert "eside code: reviewed" not in await site.text(base)


async def test_opting_out_during_a_snapshot_prevents_it(
    store: Store, key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bot.web import month_snapshots

    await fill(store)
    await publish(store)
    made = month_snapshots.profile_as_of

    async def left_meanwhile(*given: Any) -> Any:
        profile = await made(*given)
        with store.transaction() as connection:
            choices.forget(connection, ADA_KEY, NOW)
        return profile

    monkeypatch.setattr(month_snapshots, "profile_as_of", left_meanwhile)
    assert await closing(store, key, NOW) == []


# --- the same bytes everywhere ---------------------------------------------------------------------------------------

NOREPLY = (ADA.name, "7+ada-example@users.noreply.github.com")


def history(folder: Path) -> Clone:
    """Two months of work, most of it in one part of the product, a revert, and a file that is mended again and again.

    Ben works there too, before and after the end of the second month, and moves it in the third.
    """
    clone = Clone(folder, "https://github.com/acme/open.git")
    clone.commit("Open the sluice", {"sluice/open.py": "x = 1\n"}, author=BEN, days=1)
    for number in range(1, 12):
        body = "".join(f"def part_{number}_{line}():\n    return {line}\n\n\n" for line in range(12))
        clone.commit(f"Add part {number} (#{number})", {f"sluice/part{number}.py": body}, author=NOREPLY, days=3)
        clone.commit(f"Light lamp {number}", {f"lamp/wick{number}.py": "y = 1\n"}, author=BEN, days=0)
    clone.commit("Add part 1 (#1)", {"part1.py": "z = 1\n"}, author=NOREPLY)
    bad = clone.commit("Fix the valve", {"part1.py": "def part_1():\n    return 2\n"}, author=NOREPLY)
    clone.commit(f'Revert "Fix the valve"\n\nThis reverts commit {bad}.', {"part1.py": "x = 1\n"}, author=NOREPLY)
    clone.commit("Something of a later month", {"sluice/later.py": "y = 1\n"}, author=NOREPLY, days=40)
    clone.commit("Shut the sluice", {"sluice/shut.py": "x = 2\n"}, author=BEN)
    clone.commit("Move a part", {"sluice/part2.py": None, "weir/part2.py": "x = 2\n" * 20}, author=BEN)
    return clone


def _newest_first(one: Fact) -> tuple[int, str]:
    return -one.landed_at, one.commit


def with_hashes(clone: Clone, facts: list[Fact]) -> list[Fact]:
    """The facts with the hashes of their lines, which a cache keeps apart from them."""
    (source,) = open_clones([clone.folder])
    reader = PatchReader(source.git_dir, source.mailmap)
    read = [hash_lines(read_files(commit.files)) for commit in reader.read([one.commit for one in facts])]
    reader.close()
    return [replace(one, line_hashes=hashes) for one, hashes in zip(facts, read, strict=True)]


def told_by_github(found: Fact) -> Fact:
    """The fact as a backfill records it: GitHub resolves the author, who pushed it."""
    number, login = (7, "ada-example") if found.author.email == NOREPLY[1] else (8, "ben-example")
    author = replace(found.author, user_id=UserId(number), login=login)
    return replace(found, author=author, evidence=Evidence(pusher=UserId(number), pulls_known=True))


async def taken_from(
    url: str, clone: Clone, key: SigningKey, naming: visibility.Naming
) -> tuple[snapshots.Snapshot, str]:
    """The snapshot of the clone's second month, its facts recorded backwards in that database."""
    record = CloneRecord(open_clones([clone.folder]), cache=False)
    record.refresh()
    found = (told_by_github(commit.fact) for change in record.all_changes() for commit in change.commits)
    facts = with_hashes(clone, sorted({one.commit: one for one in found}.values(), key=_newest_first))
    record.close()
    async with await Store.open(url) as store:
        with store.transaction() as connection:
            account = installations.Account(100, "acme")
            installations.save_installation(connection, ACME, account, app_id="1", now=NOW)
            installations.save_repositories(connection, ACME, [Repository("acme/open", OPEN)], NOW)
            backfills.begin(connection, Backfill(OPEN, ACME, NOW, state="done"))
        for one in facts:
            await keep(store, OPEN, [one])
        await publish(store, naming=naming)
        assert await take_month_snapshots(pages_of(store, key, LATER), ADA_KEY, Month("2025-02")) == 1
        with store.snapshot() as connection:
            (found,) = snapshots.snapshots_of(connection, [ADA_KEY])
            (listed,) = snapshots.snapshot_entries(connection, [ADA_KEY])
        return found, listed.id


@pytest.mark.parametrize("naming", ["named", "anonymous"])
def test_two_databases_and_a_clone_give_the_same_bytes(
    tmp_path: Path, key: SigningKey, naming: visibility.Naming, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    clone = history(tmp_path / "clone")
    made = []
    for kind in DATABASES:
        (tmp_path / kind).mkdir()
        with fresh_database(kind, tmp_path / kind) as url:
            made.append(asyncio.run(taken_from(url, clone, key, naming)))
    taken, ids = zip(*made, strict=True)
    assert taken[0].text == taken[1].text == from_clone(clone, naming)
    assert taken[0].signature == taken[1].signature
    narrative = json.loads(taken[0].text)["narrative"]["text"]
    assert "sluice (sluice): 11 of its 12 changes" in narrative
    assert ids[0] != ids[1], "an address that whose it is can be reckoned from"
    assert verify([str(clone.folder)], taken[0].text) == []


def from_clone(clone: Clone, naming: Any) -> str:
    """The record from the clone only, as of the end of the second month."""
    from bot.landing.changes import fold
    from bot.narrative.profile import ProfileContext, ProfileScope, build
    from bot.render.anonymity import apply_naming
    from bot.render.text.json import render_json

    end = datetime(2025, 2, 28, 23, 59, 59, tzinfo=UTC)
    record = CloneRecord(open_clones([clone.folder]), cache=False)
    record.refresh()
    persons = record.people.find("ada-example")
    facts = [told_by_github(commit.fact) for change in record.changes_of(persons) for commit in change.commits]
    changes = fold([one for one in facts if one.landed_at <= end.timestamp()], record.repositories)
    person = replace(persons[0], name=ADA.name)
    scope = ProfileScope(person=person, keys=record.keys_of(persons), zone=ZoneInfo("UTC"), now=end, naming=naming)
    texts = record.texts_about(changes, until=int(end.timestamp()))
    context = ProfileContext(
        own_commits(changes, record.line_record(), scope.zone),
        texts=texts,
        totals=record.theme_totals(texts, until=int(end.timestamp())),
    )
    text = render_json(apply_naming(build(changes, scope, context), changes, scope))
    record.close()
    return text


def test_an_altered_digit_is_named_in_a_sealed_snapshot_and_so_is_its_signature(
    tmp_path: Path, key: SigningKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    clone = history(tmp_path / "clone")
    with fresh_database("sqlite", tmp_path) as url:
        taken, _ = asyncio.run(taken_from(url, clone, key, "named"))
    from bot.web.month_snapshots import envelope

    keys = json.dumps({"keys": key.public_entries()})
    assert verify([str(clone.folder)], envelope(taken).decode(), keys=keys) == []
    lines = json.loads(taken.text)["overall"]["lines"]["authored"]
    altered = replace(taken, text=taken.text.replace(f'"authored": {lines}', f'"authored": {lines + 1}', 1))
    found = verify([str(clone.folder)], envelope(altered).decode(), keys=keys)
    assert [one.field for one in found] == ["signature", "overall.lines.authored"]
    assert str(found[1]) == f"overall.lines.authored: published {lines + 1}, recomputed {lines}"
