"""What is a frozen type here? A dataclass with slots that costs little to define, and as little to make as a plain one.

`@dataclass(frozen=True, slots=True)` writes and compiles six methods for each class, about a millisecond, and there are
hundreds of classes; and its objects set each field past their own guard, four times as dear as plain assignment, where
of some types there is one a commit. Here the methods are shared but for `__init__`, which is compiled when the first
object is made. An object is of an unguarded class of the same slots while its fields are assigned, and of its own
class, guard and all, from then on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """The class with slots and all else that `@dataclass(frozen=True, slots=True)` gives.

    Of what `field` takes, `default`, `default_factory` and `repr` count; no `__post_init__`, and no inheritance.
    """
    cls.__doc__ = cls.__doc__ or cls.__name__  # dataclasses would spell its signature out
    made = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    for name, method in _methods(made).items():
        setattr(made, name, method)
    return made


def _methods(cls: type) -> dict[str, object]:
    """What objects of the class do by the values of their fields."""
    names = [each.name for each in fields(cls)]
    # of one name the getter would answer with the value alone
    values: Callable[[object], tuple[object, ...]] = (
        attrgetter(*names) if len(names) > 1 else lambda own: tuple([getattr(own, name) for name in names])
    )

    def equal(own: object, other: object) -> bool:
        return values(own) == values(other) if own.__class__ is other.__class__ else NotImplemented

    return {
        "__init__": _Init(cls),
        "__eq__": equal,
        "__hash__": lambda own: hash(values(own)),
        "__reduce__": lambda own: (cls, values(own)),
        "__repr__": _shown,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
    }


def _shown(own: Any) -> str:
    told = [f"{each.name}={getattr(own, each.name)!r}" for each in fields(own) if each.repr]
    return f"{type(own).__qualname__}({', '.join(told)})"


def _refuse(own: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


class _Init:
    """Stands where a class has `__init__`, until somebody asks for it: most types are never made in one run."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, own: object | None, _: type) -> Callable[..., None]:
        init = _init(self._cls)
        setattr(self._cls, "__init__", init)  # noqa: B010  # as dataclasses do
        return init if own is None else init.__get__(own)


def _init(cls: type) -> Callable[..., None]:
    """`__init__` with the signature that dataclasses give it; made of the fields' names, as they make theirs."""
    unguarded = type(cls.__name__, (), {"__slots__": cls.__slots__})  # type: ignore[attr-defined]  # it has them
    given: dict[str, object] = {"_set": object.__setattr__, "_unguarded": unguarded, "_own": cls, "_MISSING": MISSING}
    parameters, body = ["self"], ["_set(self, '__class__', _unguarded)"]
    for each in fields(cls):
        default, value = _told(each, given)
        parameters.append(each.name + default)
        body.append(f"self.{each.name} = {value}")
    body.append("self.__class__ = _own")
    text = f"def make({', '.join(given)}):\n def __init__({', '.join(parameters)}):\n  "
    text += "\n  ".join(body) + "\n return __init__"
    found: dict[str, Any] = {}
    exec(text, sys.modules[cls.__module__].__dict__, found)  # noqa: S102  # nothing from outside
    made: Callable[..., None] = found["make"](**given)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {each.name: each.type for each in fields(cls)} | {"return": None}
    return made


def _told(each: Field[Any], given: dict[str, object]) -> tuple[str, str]:
    """The default of a parameter as code, and the value of its field; what these name is put into `given`."""
    name = each.name
    if each.default_factory is not MISSING:
        given[f"_made_{name}"] = each.default_factory
        return "=_MISSING", f"_made_{name}() if {name} is _MISSING else {name}"
    if each.default is not MISSING:
        given[f"_default_{name}"] = each.default
        return f"=_default_{name}", name
    return "", name
