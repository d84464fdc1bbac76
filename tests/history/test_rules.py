"""Which rules apply to a history whose repository has no configuration?"""

from pathlib import Path

from msgspec.structs import asdict

from bot.history.clone import open_clone
from bot.history.measuring import rules_of
from bot.landing.repo_config.files import CONFIG_PATH
from tests.history.repository import Repository


def test_no_configuration_is_as_good_as_an_empty_one_and_one_that_is_wrong(tmp_path: Path) -> None:
    made = Repository(tmp_path / "rocket")
    made.commit("start", {"a.py": "x = 1\n"})
    clone = open_clone(made.folder)
    without = rules_of(clone, {})
    for text in ("", "no: [such, key]\n"):
        found = rules_of(clone, {CONFIG_PATH: ("0" * 40, text)})
        assert (found.landing, found.kinds) == (without.landing, without.kinds)
        assert asdict(found.files) | {"attributes": None} == asdict(without.files) | {"attributes": None}
