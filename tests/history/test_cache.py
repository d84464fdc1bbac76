import os
from pathlib import Path

import pytest

from bot.history import cache
from bot.history.cache import MAX_IDLE_DAYS, cache_file, prune

NOW = 1_800_000_000.0


def a_cache(root: Path, name: str, *, days_ago: float, size: int = 10) -> Path:
    file = root / f"{name}.sqlite"
    file.write_bytes(b"x" * size)
    os.utime(file, (NOW, NOW - days_ago * 86_400))
    return file


def test_long_unused_caches_are_deleted_with_their_side_files(tmp_path: Path) -> None:
    old, new = a_cache(tmp_path, "old", days_ago=MAX_IDLE_DAYS + 1), a_cache(tmp_path, "new", days_ago=1)
    (tmp_path / "old.sqlite-wal").write_bytes(b"")
    prune(tmp_path, tmp_path / "mine.sqlite", NOW)
    assert new.exists()
    assert not old.exists()
    assert not (tmp_path / "old.sqlite-wal").exists()


def test_the_least_recently_used_caches_are_deleted_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_TOTAL_BYTES", 25)
    files = [a_cache(tmp_path, str(days), days_ago=days) for days in (1, 2, 3)]
    prune(tmp_path, tmp_path / "mine.sqlite", NOW)
    assert [file.exists() for file in files] == [True, True, False]


def test_the_cache_in_use_stays_however_large_and_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_TOTAL_BYTES", 5)
    mine = a_cache(tmp_path, "mine", days_ago=400)
    prune(tmp_path, mine, NOW)
    assert mine.exists()


def test_one_identity_has_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_file(["a", "b"]) == cache_file(["a", "b"]) != cache_file(["ab"])


def test_nothing_is_cached_without_a_home_or_with_another_users_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(*_: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = cache_file(["a"])
    assert file is not None
    file.write_bytes(b"")
    monkeypatch.setattr(cache.os, "access", lambda path, _: path != file)
    assert cache_file(["a"]) is None
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", nobody)
    assert cache_file(["a"]) is None
