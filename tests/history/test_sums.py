from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.history import sums as sums_module
from bot.history.opening import open_clones
from bot.history.record import CloneRecord
from bot.history.scratch import MonthSum
from bot.landing import changes
from bot.narrative.profile import ProfileScope, build
from tests.history.repository import ADA, BEN, Repository

UTC_ZONE = ZoneInfo("UTC")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Repository(tmp_path / "rocket")
    for number in range(24):
        kind = ("feat", "fix", "docs")[number % 3]
        made.commit(f"{kind}: part {number}", {f"{number}.py": "x = 1\n" * 9}, author=(ADA, BEN)[number % 2], days=11)
    return made


def sums(repository: Repository, *, workers: int = 1) -> list[MonthSum]:
    record = CloneRecord(open_clones([repository.folder]))
    record.refresh(workers=workers)
    found = record.month_sums(UTC_ZONE, workers)
    assert totals(found) == by_folding_all(record)
    record.close()
    return found


def totals(months: list[MonthSum]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0, 0])
    for _, person, *counts in months:
        found[person] = [a + b for a, b in zip(found[person], [*counts, counts[0] > 0], strict=True)]
    return dict(found)


def by_folding_all(record: CloneRecord) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for person in [one for one in record.people.all() if not one.bot]:
        scope = ProfileScope(
            person=person, keys=record.keys_of([person]), zone=UTC_ZONE, now=datetime(2030, 1, 1, tzinfo=UTC)
        )
        whole = build(record.all_changes(), scope).overall
        found[person.key] = [whole.commits, whole.features, whole.bugs, whole.lines.code, whole.active_months]
    return found


def test_months_summed_in_parts_add_up_to_the_sums_of_the_full_history(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sums_module, "AT_ONCE", 2)
    months = sums(repository, workers=2)
    assert len({month for month, *_ in months}) == 9


def test_a_revert_corrects_the_month_of_the_reverted_work(repository: Repository) -> None:
    before = sums(repository)
    target = repository.git("rev-parse", "HEAD~20")
    repository.commit(f'Revert "x"\n\nThis reverts commit {target}.', {"3.py": None}, author=BEN)
    after = sums(repository)
    (changed,) = [row for row in after if row not in before and row[0] < "2025-06"]
    assert changed[5] < next(row for row in before if row[:2] == changed[:2])[5]


def test_a_machine_has_no_totals_but_its_reverts_take_effect(repository: Repository) -> None:
    before = sums(repository)
    target = repository.git("rev-parse", "HEAD~20")
    message = f'Revert "x"\n\nThis reverts commit {target}.'
    repository.commit(message, {"3.py": None}, author=("mender[bot]", "mender@example.org"))
    after = sums(repository)
    assert {row[1] for row in after} == {row[1] for row in before}
    assert len([row for row in after if row not in before]) == 1


def test_a_machine_that_borrows_an_address_takes_nothing_from_its_owner(repository: Repository) -> None:
    repository.commit("feat: late", {"late.py": "x = 1\n"}, author=ADA, days=90)
    before = totals(sums(repository))
    repository.commit("chore: more", {"more.py": "x = 1\n"}, author=("Ada[bot]", ADA[1]))
    assert totals(sums(repository)) == before


def test_an_unchanged_record_is_answered_from_the_cache(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sums(repository)
    monkeypatch.setattr(changes, "fold", None)
    record = CloneRecord(open_clones([repository.folder]))
    record.refresh(workers=1)
    assert record.month_sums(UTC_ZONE) == first
    record.close()


def test_two_accounts_found_to_be_one_person_share_their_totals(repository: Repository) -> None:
    assert len(totals(sums(repository))) == 2
    both = f"{ADA[0]} <{ADA[1]}> {BEN[0]} <{BEN[1]}>\n"
    repository.commit("mailmap", {".mailmap": both})
    assert len(totals(sums(repository))) == 1


def test_months_are_cut_in_the_zone_that_is_asked_for(repository: Repository) -> None:
    repository.now = 1_767_225_000  # 2025-12-31 23:50 UTC
    repository.commit("fix: late", {"late.py": "x = 1\n"}, days=0)
    record = CloneRecord(open_clones([repository.folder]))
    record.refresh(workers=1)
    assert max(month for month, *_ in record.month_sums(UTC_ZONE)) == "2025-12"
    assert max(month for month, *_ in record.month_sums(ZoneInfo("Asia/Tokyo"))) == "2026-01"
    record.close()
