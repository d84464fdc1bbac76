"""How does an operator inspect and repair the queue? With `almanac jobs`."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

import typer

from bot.cli.printing import stop, write

STATES = ("ready", "running", "parked", "dead", "done", "cancelled")

_LARGEST = 2**63 - 1
"""what both databases can hold as a number"""
Numbers = Annotated[list[int], typer.Argument(metavar="ID...", max=_LARGEST, help="Numbers of jobs from the list.")]


def list_(
    state: Annotated[
        str, typer.Option(metavar="STATE", help=f"Show jobs in this state: {', '.join(STATES)} or all.")
    ] = "dead and parked",
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per job.")] = False,
) -> None:
    """List dead letters and parked jobs.

    Dead letters failed for good; parked jobs wait for a change at GitHub.
    """
    from bot.cli.operating import upkeep

    states = {"dead and parked": ("dead", "parked"), "all": STATES}.get(state, (state,))
    if not set(states) <= set(STATES):
        stop(f"--state {state!r}: choose one of {', '.join(STATES)}, or all")
    rows = upkeep.list_jobs(states)
    if as_json:
        write(_json(row) + "\n" for row in rows)
        return
    write("".join(_line(row) + "\n" for row in rows) or f"no {state} jobs; all: {_counts_text(upkeep.count_jobs())}")


def show(
    number: Annotated[int, typer.Argument(metavar="ID", max=_LARGEST, help="The number of a job from the list.")],
) -> None:
    """Print everything about one job as JSON."""
    from bot.cli.operating import upkeep

    write(_json(upkeep.show_job(number), indent=1))


def replay(
    numbers: Annotated[
        list[int] | None,
        typer.Argument(metavar="[ID...]", max=_LARGEST, help="Numbers of dead or parked jobs.", show_default=False),
    ] = None,
    all_dead: Annotated[bool, typer.Option("--all-dead", help="Replay every dead letter.")] = False,
) -> None:
    """Put dead and parked jobs into the queue.

    Their failure counts start at 0 again.
    """
    from bot.cli.operating import upkeep

    if bool(numbers) == all_dead:
        stop("name the numbers of jobs, or --all-dead; see: almanac jobs list")
    count = upkeep.replay_jobs(numbers or [], every="dead" if all_dead else None)
    write(
        f"{count} back in the queue"
        if count
        else "nothing to replay: no such job is dead or parked, or an equal job is already waiting"
    )


def cancel(numbers: Numbers) -> None:
    """Cancel waiting, parked or dead jobs."""
    from bot.cli.operating import upkeep

    write(f"{upkeep.cancel_jobs(numbers)} cancelled")


def _line(row: Any) -> str:
    about = f"  installation {row.installation_id}" if row.installation_id is not None else ""
    reason = f"  {' '.join(row.last_error.split())[:200]}" if row.last_error else ""
    return f"{row.id:>8}  {row.state:<9}  {row.task:<22}  {row.failures} failures{about}  {row.ref_id}{reason}"


def _json(row: Any, indent: int | None = None) -> str:
    values = {name: getattr(row, name) for name in row.__struct_fields__}
    plain = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}
    return json.dumps(plain, ensure_ascii=False, indent=indent)


def _counts_text(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counts.items()) or "none"
