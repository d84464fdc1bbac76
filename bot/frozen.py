"""How are frozen objects made at the price of plain ones?

A frozen dataclass sets each field past its own guard, which costs four times what plain assignment does; types of which
there is one a commit are made by the hundred thousand. Here an object is of an unguarded class of the same slots while
its fields are assigned, and of its own class, guard and all, from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

T = TypeVar("T")


def made_quickly(cls: type[T]) -> type[T]:
    """The same frozen dataclass with slots, whose `__init__` assigns. It stands above `@dataclass`."""
    own = fields(cls)  # type: ignore[arg-type]  # a dataclass, which `type[T]` cannot say
    setattr(cls, "__init__", _init(cls, own))  # noqa: B010  # as dataclasses do
    return cls


def _init(cls: type, own: tuple[Field[Any], ...]) -> Callable[..., None]:
    """`__init__` with the signature that dataclasses give it; made of the fields' names, as they make theirs."""
    unguarded = type(cls.__name__, (), {"__slots__": cls.__slots__})  # type: ignore[attr-defined]  # as above
    given: dict[str, Any] = {"_set": object.__setattr__, "_unguarded": unguarded, "_own": cls, "_MISSING": MISSING}
    parameters, body = ["self"], ["_set(self, '__class__', _unguarded)"]
    for field in own:
        name = field.name
        value = name
        if field.default_factory is not MISSING:
            given[f"_made_{name}"], given[f"_default_{name}"] = field.default_factory, MISSING
            value = f"_made_{name}() if {name} is _MISSING else {name}"
        elif field.default is not MISSING:
            given[f"_default_{name}"] = field.default
        parameters.append(f"{name}=_default_{name}" if f"_default_{name}" in given else name)
        body.append(f"self.{name} = {value}")
    body.append("self.__class__ = _own")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body), given)  # noqa: S102  # nothing from outside
    made: Callable[..., None] = given["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made
