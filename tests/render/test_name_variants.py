"""Do titles on an anonymous page contain no variant of the name?"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot.landing.identity.credit import person_key
from bot.model.commit import Signature
from bot.render.anonymity import Identity, anonymise_profile
from bot.render.redaction import redact_names
from tests.render.factories import SOMEBODY, change, small_profile

VARIANTS = [
    ("Mira Okonjo", "Merge miraokonjo-patch, mira.okonjo, MIRA_OKONJO", "Merge [name]-patch, [name], [name]"),
    ("Mira Okonjo", "港のURLをOkonjoから移す", "港のURLを[name]から移す"),
    ("Mira Okonjo", "Admirable okonjos", "Admirable okonjos"),
    ("山岸太郎", "山岸太郎のランプ、山岸さん", "[name]のランプ、[name]さん"),
    ("山岸 太郎", "太郎さんのランプを直す", "[name]さんのランプを直す"),
    ("김철수", "김철수가 고친 등대", "[name]가 고친 등대"),
    ("José Núñez", "Jose's lamp, nunez/jose-nunez", "[name]'s lamp, nunez/[name]"),
    ("Jörg Müller", "Mueller, Muller, müller and Joerg", "[name], [name], [name] and [name]"),
]


def test_titles_contain_no_name_of_hidden_people() -> None:
    found = change("harbour/beacon", 1, "Merge the lamps of Mira", "2025-06-02")
    (named,), (hidden,) = redact_names([found], ()), redact_names([found], {person_key(SOMEBODY)})
    assert (named.title, hidden.title) == ("Merge the lamps of Mira", "Merge the lamps of [name]")


@pytest.mark.parametrize(("name", "title", "masked"), VARIANTS)
def test_no_variant_of_a_name_remains(name: str, title: str, masked: str) -> None:
    named = replace(small_profile(), changes=(change("harbour/beacon", 1, title, "2025-06-02"),))
    (found,) = anonymise_profile(named, Identity.of([Signature(name, "x@example.org")])).changes
    assert found.title == masked
