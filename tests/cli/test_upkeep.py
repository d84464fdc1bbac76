"""What do the operator's commands for the queue and the record print?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import update

from benchmarks.speed.starts import private_key
from bot.cli.main import main
from bot.model.ids import InstallationId, RepositoryId
from bot.services import context
from bot.services.recording.record import RecordingTarget, record
from bot.store.dump import canonical_dump
from bot.store.engine import Store
from bot.store.jobs import JOB, NewJob, add_jobs, counts
from bot.store.schema import TABLES
from bot.store.totals import TOTALS
from tests.databases import fresh_database
from tests.store.conftest import ACME, APP, NOW, fact, seed

Answer = tuple[int, str, str]
Command = Callable[..., Answer]


@pytest.fixture
def url(tmp_path: Path) -> str:
    with fresh_database("sqlite", tmp_path) as found:
        return found


@pytest.fixture
def almanac(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(tmp_path)
    settings = {
        "DATABASE_URL": url,
        "DATA": str(tmp_path),
        "GITHUB_URL": "http://127.0.0.1:9",
    }
    settings |= {"APP_ID": "7", "WEBHOOK_SECRET": "s" * 40, "PRIVATE_KEY": private_key(), "LOG_LEVEL": "CRITICAL"}
    for name, value in settings.items():
        monkeypatch.setenv(f"ALMANAC_{name}", value)

    monkeypatch.setattr(context, "read_app", _nobody_to_ask)

    def run(*arguments: str) -> Answer:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        out, err = capfd.readouterr()
        return int(str(ended.value.code or 0)), out, err

    return run


async def _nobody_to_ask(_: object) -> None:
    """GitHub is out of reach, without the tries that lead there."""
    raise OSError("out of reach")


def _do(url: str, work: Callable[[Store], object]) -> object:
    async def opened() -> object:
        async with await Store.open(url) as store:
            return await work(store)

    return asyncio.run(opened())


async def _three_jobs(store: Store) -> None:
    with store.transaction() as connection:
        for state in ("dead", "parked", "ready"):
            (job,) = add_jobs(connection, [NewJob("record", state, dedupe_key=state)], NOW)
            connection.execute(update(JOB).where(JOB.c.id == job.id).values(state=state, last_error=f"was {state}"))


async def _counts(store: Store) -> dict[str, int]:
    with store.snapshot() as connection:
        return counts(connection)


def test_dead_letters_and_parked_jobs_are_listed_shown_replayed_and_cancelled(almanac: Command, url: str) -> None:
    _do(url, _three_jobs)
    code, out, _ = almanac("jobs", "list")
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines()] == [["2", "parked", "record"], ["1", "dead", "record"]]
    code, out, _ = almanac("jobs", "list", "--state", "ready", "--json")
    assert [json.loads(line)["id"] for line in out.splitlines()] == [3]
    assert json.loads(almanac("jobs", "show", "1")[1])["last_error"] == "was dead"
    assert almanac("jobs", "replay", "1", "2")[:2] == (0, "2 back in the queue\n")
    assert almanac("jobs", "cancel", "3")[:2] == (0, "1 cancelled\n")
    assert _do(url, _counts) == {"cancelled": 1, "ready": 2}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("jobs", "show", "99"), "no job 99"),
        (("jobs", "replay", "1", "99"), "no job 99"),
        (("jobs", "replay", "3"), "3 is ready"),
        (("jobs", "replay"), "--all-dead"),
        (("jobs", "replay", "1", "--all-dead"), "--all-dead"),
        (("jobs", "cancel", "98"), "no job 98"),
        (("jobs", "list", "--state", "lost"), "choose one of"),
        (("export", "nobody"), "knows nobody"),
        (("forget", "nobody"), "--yes"),
        (("forget", "nobody", "--yes"), "knows nobody"),
        (("replay", "none.json"), "cannot read"),
        (("move", "--to", "mysql://x"), "must start with"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(
    almanac: Command, url: str, arguments: tuple[str, ...], words: str
) -> None:
    _do(url, _three_jobs)
    code, out, err = almanac(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("almanac: ")
    assert err.count("\n") == 1
    assert words in err
    assert _do(url, _counts) == {"dead": 1, "parked": 1, "ready": 1}


def test_a_replayed_delivery_counts_once(almanac: Command, url: str, tmp_path: Path) -> None:
    payload = {"action": "suspend", "installation": {"id": 5, "account": {"id": 1, "login": "acme"}}}
    delivery = tmp_path / "delivery.json"
    delivery.write_text(json.dumps({"event": "installation", "payload": payload}))
    code, out, err = almanac("replay", str(delivery))
    assert code == 0, err
    assert "is taken" in out
    assert "was received before" in almanac("replay", str(delivery))[1]
    headers = {"x-github-event": "installation", "X-GitHub-Delivery": "11-22"}
    delivery.write_text(json.dumps({"headers": headers, "payload": payload}))
    assert almanac("replay", str(delivery))[1].startswith("delivery 11-22 (installation) is taken")
    delivery.write_text('{"payload": 1}')
    assert almanac("replay", str(delivery))[0] == 2


async def _landed(store: Store) -> None:
    await seed(store)
    with store.transaction() as connection:
        record(
            connection, RecordingTarget(InstallationId(ACME), RepositoryId(APP), ZoneInfo("UTC")), [fact(1)], now=NOW
        )


def test_a_person_is_exported_and_then_erased_for_good(almanac: Command, url: str) -> None:
    _do(url, _landed)
    told = json.loads(almanac("export", "ada")[1])
    assert told["landed"][0]["commit"] == fact(1).commit
    assert almanac("forget", "ada")[0] == 2
    assert almanac("forget", "ada", "--yes")[0] == 0
    assert almanac("export", "ada")[0] == 2
    _do(url, _landed)
    assert almanac("export", "ada")[0] == 2


def test_a_database_without_tables_is_reported_with_the_command_to_create_them(
    almanac: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for database in ("sqlite", "postgresql"):
        folder = tmp_path / database
        folder.mkdir()
        (folder / "almanac.db").touch()
        with fresh_database(database, folder, migrated=False) as url:
            monkeypatch.setenv("ALMANAC_DATABASE_URL", url.replace("+psycopg", ""))
            code, _, err = almanac("jobs", "list")
            assert code == 2
            assert err.endswith("run: almanac migrate\n")
            assert err.count("\n") == 1


async def _damaged(store: Store) -> None:
    with store.transaction() as connection:
        connection.execute(update(TOTALS).values(commits=7))


def test_wrong_totals_are_repaired_from_the_facts_and_reported(almanac: Command, url: str) -> None:
    assert almanac("rebuild")[:2] == (0, "")
    _do(url, _landed)
    whole = _do(url, lambda store: canonical_dump(store, TABLES))
    _do(url, _damaged)
    told = "acme: changes 1, sums 1; {}\nother: changes 0, sums 0; everything agrees with the facts\n"
    assert almanac("rebuild")[:2] == (0, told.format("wrong until now: 1"))
    assert almanac("rebuild")[:2] == (0, told.format("everything agrees with the facts"))
    assert _do(url, lambda store: canonical_dump(store, TABLES)) == whole


def test_the_record_moves_with_one_command(almanac: Command, url: str, tmp_path: Path) -> None:
    _do(url, _landed)
    target = f"sqlite:///{tmp_path}/new/almanac.db"
    code, out, _ = almanac("move", "--to", target)
    assert code == 0
    assert str(_do(url, lambda store: canonical_dump(store, TABLES))) in out
    code, _, err = almanac("move", "--to", target)
    assert code == 2
    assert "holds rows already" in err
