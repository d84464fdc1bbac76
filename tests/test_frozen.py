"""Are objects that are made quickly frozen dataclasses in everything else?"""

from dataclasses import FrozenInstanceError, dataclass, field, replace
from inspect import signature

import pytest

from bot.frozen import made_quickly
from bot.model import Change, CountedCommit, Fact, FileChange, Item, Lines, Signature


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    number: int = 3
    many: list[int] = field(default_factory=list)


@made_quickly
@dataclass(frozen=True, slots=True)
class Quick:
    name: str
    number: int = 3
    many: list[int] = field(default_factory=list)


def test_it_is_made_and_shown_as_the_plain_one() -> None:
    for values in ({"name": "a"}, {"name": "a", "number": 4}, {"name": "a", "many": [1]}):
        assert repr(Quick(**values)) == repr(Plain(**values)).replace("Plain", "Quick")
    assert Quick("a", 3, [1]) == replace(Quick("a"), many=[1])
    assert Quick("a").many is not Quick("a").many
    assert type(Quick("a")) is Quick


def test_a_field_that_is_missing_or_unknown_is_refused() -> None:
    for values in ({}, {"name": "a", "colour": "red"}):
        with pytest.raises(TypeError):
            Quick(**values)


@pytest.mark.parametrize("made", [Quick("a"), Lines(1), Signature("Ada", "ada@example.org")])
def test_nothing_can_be_assigned_to_it(made: Quick | Lines | Signature) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(made, made.__slots__[0], "b")
    with pytest.raises(AttributeError):
        object.__setattr__(made, "other", 1)


@pytest.mark.parametrize("kind", [Change, CountedCommit, Fact, FileChange, Item, Lines, Signature])
def test_the_types_of_the_record_name_their_fields_in_order(kind: type) -> None:
    assert tuple(signature(kind).parameters) == kind.__slots__  # type: ignore[attr-defined]  # they have slots
