"""What is a frozen type here? A dataclass with slots that costs little to define, and as little to make as a plain one.

`@dataclass(frozen=True, slots=True)` writes and compiles six methods for each class, about a millisecond, and there are
hundreds of classes; and its objects set each field past their own guard, four times as dear as plain assignment, where
of some types there is one a commit. Here the methods are shared but for `__init__`, which is compiled when the first
object is made, and `dataclasses` looks at a class when somebody asks for its fields. An object is of an unguarded class
of the same slots while its fields are assigned, and of its own class, guard and all, from then on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """The class with slots and all else that `@dataclass(frozen=True, slots=True)` gives.

    Of what `field` takes, `default`, `default_factory` and `repr` count; no `__post_init__`, and no inheritance.
    """
    stated = {"__annotations__": {}, **vars(cls)}
    names = tuple(stated["__annotations__"])
    defaults = {name: stated.pop(name) for name in names if name in stated}
    for name in ("__dict__", "__weakref__"):
        stated.pop(name, None)
    stated |= {"__slots__": names, "__match_args__": names, "__qualname__": cls.__qualname__}
    stated["__doc__"] = cls.__doc__ or cls.__name__  # dataclasses would spell its signature out
    made: Any = type(cls.__name__, (), stated)
    for name, method in _methods(made, names, defaults).items():
        setattr(made, name, method)
    found: type[T] = made
    return found


class _Asked:
    """Stands where `dataclasses` keeps what it knows of a class, until somebody asks: of most types nobody does."""

    def __init__(self, name: str, defaults: Mapping[str, object]) -> None:
        self._name = name
        self._defaults = defaults

    def __get__(self, own: object | None, cls: type) -> object:
        stated = {name: getattr(cls, name) for name in ("__annotations__", "__module__", "__doc__")}
        plain: type = type(cls.__name__, (), {**self._defaults, **stated})
        found = getattr(dataclass(init=False, repr=False, eq=False)(plain), self._name)
        setattr(cls, self._name, found)
        return found


def _methods(cls: type, names: tuple[str, ...], defaults: Mapping[str, object]) -> dict[str, object]:
    """What the class and its objects do, by the names of its fields and the values that objects have there."""
    # of one name the getter would answer with the value alone
    values: Callable[[object], tuple[object, ...]] = (
        attrgetter(*names) if len(names) > 1 else lambda own: tuple([getattr(own, name) for name in names])
    )

    def equal(own: object, other: object) -> bool:
        return values(own) == values(other) if own.__class__ is other.__class__ else NotImplemented

    return {
        "__init__": _Init(cls, defaults),
        "__eq__": equal,
        "__hash__": lambda own: hash(values(own)),
        "__reduce__": lambda own: (cls, values(own)),
        "__repr__": _shown,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__dataclass_fields__": _Asked("__dataclass_fields__", defaults),
        "__dataclass_params__": _Asked("__dataclass_params__", defaults),
    }


def _shown(own: Any) -> str:
    told = [f"{each.name}={getattr(own, each.name)!r}" for each in fields(own) if each.repr]
    return f"{type(own).__qualname__}({', '.join(told)})"


def _refuse(own: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


class _Init:
    """Stands where a class has `__init__`, until somebody asks for it: most types are never made in one run."""

    def __init__(self, cls: type, defaults: Mapping[str, object]) -> None:
        self._cls = cls
        self._defaults = defaults

    def __get__(self, own: object | None, _: type) -> Callable[..., None]:
        init = _init(self._cls, self._defaults)
        setattr(self._cls, "__init__", init)  # noqa: B010  # as dataclasses do
        return init if own is None else init.__get__(own)


def _init(cls: type, defaults: Mapping[str, object]) -> Callable[..., None]:
    """`__init__` with the signature that dataclasses give it; made of the fields' names, as they make theirs."""
    unguarded = type(cls.__name__, (), {"__slots__": cls.__slots__})  # type: ignore[attr-defined]  # it has them
    given: dict[str, object] = {"_set": object.__setattr__, "_unguarded": unguarded, "_own": cls, "_MISSING": MISSING}
    parameters, body = ["self"], ["_set(self, '__class__', _unguarded)"]
    for name in cls.__annotations__:
        default, value = _told(name, defaults.get(name, MISSING), given)
        parameters.append(name + default)
        body.append(f"self.{name} = {value}")
    body.append("self.__class__ = _own")
    text = f"def make({', '.join(given)}):\n def __init__({', '.join(parameters)}):\n  "
    text += "\n  ".join(body) + "\n return __init__"
    found: dict[str, Any] = {}
    exec(text, sys.modules[cls.__module__].__dict__, found)  # noqa: S102  # nothing from outside
    made: Callable[..., None] = found["make"](**given)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {**cls.__annotations__, "return": None}
    return made


def _told(name: str, default: object, given: dict[str, object]) -> tuple[str, str]:
    """The default of a parameter as code, and the value of its field; what these name is put into `given`."""
    if isinstance(default, Field):
        if default.default_factory is not MISSING:
            given[f"_made_{name}"] = default.default_factory
            return "=_MISSING", f"_made_{name}() if {name} is _MISSING else {name}"
        default = default.default
    if default is not MISSING:
        given[f"_default_{name}"] = default
        return f"=_default_{name}", name
    return "", name
