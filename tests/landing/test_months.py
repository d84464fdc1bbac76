from importlib.resources import files
from zoneinfo import ZoneInfo, available_timezones

import pytest

from bot.landing.months import closed_months, day_of, month_after, month_of, month_start, months_between, parse_month

UTC, KIRITIMATI, PAGO = ZoneInfo("UTC"), ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Pago_Pago")
LAST_SECOND_OF_JUNE = 1_751_327_999


def test_a_moment_belongs_to_another_month_in_another_zone():
    assert month_of(LAST_SECOND_OF_JUNE, UTC) == "2025-06"
    assert month_of(LAST_SECOND_OF_JUNE + 1, UTC) == "2025-07"
    assert month_of(LAST_SECOND_OF_JUNE, KIRITIMATI) == "2025-07"
    assert month_of(LAST_SECOND_OF_JUNE + 1, PAGO) == "2025-06"
    assert day_of(LAST_SECOND_OF_JUNE + 1, PAGO) == "2025-06-30"


def rules_of(name: str) -> bytes:
    """A zone's rules, the same for each of its names."""
    file = files("tzdata") / "zoneinfo" / name
    return file.read_bytes() if file.is_file() else name.encode()


def test_every_zone_gives_every_moment_one_month_with_no_gap_and_no_overlap():
    zones = {rules_of(name): name for name in sorted(available_timezones())}
    assert len(zones) > 300
    for name in zones.values():
        zone = ZoneInfo(name)
        for month in months_between("2023-12", "2026-12"):
            begin = month_start(month, zone)
            assert month_of(begin, zone) == month, (name, month)
            assert month_of(begin - 1, zone) == month_after(month, -1), (name, month)


def test_a_day_that_a_time_zone_skipped_does_not_move_a_month():
    samoa = ZoneInfo("Pacific/Apia")
    assert [month_of(month_start(month, samoa), samoa) for month in ("2011-12", "2012-01")] == ["2011-12", "2012-01"]
    assert day_of(month_start("2012-01", samoa) - 1, samoa) == "2011-12-31"


def test_a_clock_change_does_not_move_the_day():
    berlin = ZoneInfo("Europe/Berlin")
    assert day_of(1_743_289_200, berlin) == day_of(1_743_289_200 + 3600, berlin) == "2025-03-30"


def test_months_are_closed_when_they_are_over_in_that_zone():
    assert closed_months("2025-04", LAST_SECOND_OF_JUNE, UTC) == ("2025-04", "2025-05")
    assert closed_months("2025-04", LAST_SECOND_OF_JUNE + 1, UTC) == ("2025-04", "2025-05", "2025-06")
    assert closed_months("2025-07", LAST_SECOND_OF_JUNE, UTC) == ()


def test_months_run_over_the_turn_of_the_year():
    assert months_between("2024-11", "2025-02") == ("2024-11", "2024-12", "2025-01", "2025-02")
    assert months_between("2025-02", "2024-11") == ()


@pytest.mark.parametrize(
    "text", ["", "2025", "2025-13", "2025-00", "25-01", "2025-1", "2025/01", "０２５-01", "2025-01-01"]
)
def test_an_invalid_month_is_refused_with_the_valid_format(text):
    with pytest.raises(ValueError, match="2025-06"):
        parse_month(text)
