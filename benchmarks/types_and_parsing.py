"""What do frozen types and the reading of JSON cost, with msgspec and with the standard library (docs/decisions/0101)?

    python -m benchmarks.types_and_parsing

Each figure is the best of many rounds, taken in turns; only the ratios mean anything on another machine.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from benchmarks.speed.accept import payload
from bot.github.payloads import deliveries, reading
from bot.model.fact import Lines

ROUNDS = 30
_FIELDS = (
    "    a: int\n    b: str\n    c: str\n    d: tuple[int, ...] = ()\n    e: bool = False\n    f: int | None = None\n"
)
_DATACLASS = "@dataclasses.dataclass(frozen=True, slots=True)\nclass Made:\n" + _FIELDS
_STRUCT = "class Made(msgspec.Struct, frozen=True):\n" + _FIELDS
_NAMES = {"dataclasses": dataclasses, "msgspec": msgspec, "__name__": __name__}


_ALIKE = [(name, int, 0) for name in Lines.__struct_fields__]
PlainLines = dataclasses.make_dataclass("PlainLines", _ALIKE, frozen=True, slots=True)
"""`Lines` as a dataclass"""


def seconds(work: Callable[[], object], times: int) -> float:
    begun = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - begun) / times


def in_turns(works: Mapping[str, Callable[[], object]], times: int) -> dict[str, float]:
    """Seconds of each work, the best of all rounds."""
    rounds = [{name: seconds(work, times) for name, work in works.items()} for _ in range(ROUNDS)]
    return {name: min(one[name] for one in rounds) for name in works}


def defining(text: str) -> Callable[[], object]:
    code = compile(text, "made", "exec")
    return lambda: exec(code, dict(_NAMES))  # noqa: S102  # our own text


def bytes_of(make: Callable[[], object]) -> float:
    tracemalloc.start()
    kept = [make() for _ in range(10_000)]
    used = tracemalloc.get_traced_memory()[0] / len(kept)
    tracemalloc.stop()
    return used


def report(what: str, found: Mapping[str, float], unit: float = 1e9, name: str = "ns") -> None:
    floor, *others = found
    told = [f"{one} {found[one] * unit:.1f} {name} ({found[one] / found[floor]:.2f})" for one in others]
    print(f"{what:28} {floor} {found[floor] * unit:.1f} {name}; {'; '.join(told)}")


def types() -> None:
    plain, struct = PlainLines(1, 2), Lines(1, 2)
    report("define a class", in_turns({"dataclass": defining(_DATACLASS), "Struct": defining(_STRUCT)}, 5), 1e6, "µs")
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "make an object": (lambda: PlainLines(1, 2), lambda: Lines(1, 2)),
        "compare two": (lambda: plain == PlainLines(1, 2), lambda: struct == Lines(1, 2)),
        "hash": (lambda: hash(plain), lambda: hash(struct)),
        "replace a field": (
            lambda: dataclasses.replace(plain, tests=5),
            lambda: msgspec.structs.replace(struct, tests=5),
        ),
    }
    for what, (old, new) in pairs.items():
        report(what, in_turns({"dataclass": old, "Struct": new}, 5_000))
    sizes = {"dataclass": bytes_of(lambda: PlainLines(1, 2)), "Struct": bytes_of(lambda: Lines(1, 2))}
    print("bytes an object", ", ".join(f"{name} {size:.0f}" for name, size in sizes.items()))


def parsing() -> None:
    plain = payload(7)
    accented = json.dumps(json.loads(plain) | {"title": "“quoted”"}, ensure_ascii=False).encode()
    nested = json.dumps(json.loads(plain) | {"commits": [{"added": [], "removed": []}] * 30}).encode()
    typed = msgspec.json.Decoder(deliveries.DeliveryPayload)
    for what, body in {"26 kB": plain, "26 kB, not ASCII": accented, "26 kB, many brackets": nested}.items():
        readers: dict[str, Callable[[bytes], object]] = {
            "json.loads": json.loads,
            "within limits": reading.decode_within_limits,
            "as the webhook": deliveries.read,
            "without limits": typed.decode,
        }
        works = {name: partial(read, body) for name, read in readers.items()}
        report(what, in_turns(works, 50), 1e6, "µs")


def main() -> None:
    print(f"Python {sys.version.split()[0]}, msgspec {msgspec.__version__}; in brackets the ratio to the first")
    types()
    parsing()


if __name__ == "__main__":
    main()
