"""Are frozen types dataclasses in everything but their cost?"""

import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from inspect import signature
from typing import Any, get_type_hints

import pytest

from bot.frozen import frozen
from bot.model import Change, CountedCommit, Fact, FileChange, Item, Lines, Signature


@dataclass(frozen=True, slots=True)
class Plain:
    name: str
    number: int = 3
    many: list[int] = field(default_factory=list)
    secret: str = field(default="", repr=False)


@frozen
class Quick:
    name: str
    number: int = 3
    many: list[int] = field(default_factory=list)
    secret: str = field(default="", repr=False)


@frozen
class Single:
    name: str


@frozen
class Empty:
    """It has no field."""


def test_it_is_made_and_shown_as_the_plain_one() -> None:
    given: list[dict[str, Any]] = [{"name": "a"}, {"name": "a", "number": 4, "secret": "b"}, {"name": "a", "many": [1]}]
    for values in given:
        assert repr(Quick(**values)) == repr(Plain(**values)).replace("Plain", "Quick")
        assert asdict(Quick(**values)) == asdict(Plain(**values))
    assert Quick("a", 3, [1]) == replace(Quick("a"), many=[1])
    assert Quick("a").many is not Quick("a").many
    assert type(Quick("a")) is Quick
    assert [each.name for each in fields(Quick)] == [each.name for each in fields(Plain)]


def test_its_signature_is_known_before_the_first_is_made() -> None:
    assert str(signature(Single)) == "(name: str) -> None"
    assert list(signature(Quick).parameters) == list(signature(Plain).parameters)
    assert get_type_hints(Quick.__init__) == get_type_hints(Plain.__init__)


def test_a_field_that_is_missing_or_unknown_is_refused() -> None:
    given: list[dict[str, Any]] = [{}, {"name": "a", "colour": "red"}]
    for values in given:
        with pytest.raises(TypeError):
            Quick(**values)


def test_equal_values_of_one_type_are_equal_and_nothing_else_is() -> None:
    assert Single("a") == Single("a") != Single("b")
    assert Empty() == Empty()
    another: object = Single("1")
    assert Lines(1) != another
    assert {Single("a"): 1, Empty(): 2}[Single("a")] == 1
    with pytest.raises(TypeError):
        hash(Quick("a"))


@pytest.mark.parametrize("made", [Quick("a", many=[1]), Single("a"), Empty(), Lines(1)])
def test_copies_and_what_another_process_reads_are_equal(made: object) -> None:
    assert deepcopy(made) == made
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301  # our own bytes


@pytest.mark.parametrize("made", [Quick("a"), Lines(1), Signature("Ada", "ada@example.org")])
def test_nothing_can_be_assigned_to_it(made: Quick | Lines | Signature) -> None:
    name = made.__match_args__[0]
    with pytest.raises(FrozenInstanceError):
        setattr(made, name, "b")
    with pytest.raises(FrozenInstanceError):
        delattr(made, name)
    with pytest.raises(AttributeError):
        object.__setattr__(made, "other", 1)


@pytest.mark.parametrize("kind", [Change, CountedCommit, Fact, FileChange, Item, Lines, Signature])
def test_the_types_of_the_record_name_their_fields_in_order(kind: Any) -> None:
    assert tuple(signature(kind).parameters) == kind.__slots__ == kind.__match_args__
