"""How did one number of a profile come about, according to the record or to clones?"""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.options import Zone
from bot.commands.printing import write


def explain(
    who: Annotated[str, typer.Argument(metavar="LOGIN", help="Whose: a login; with --clone also an e-mail or a name.")],
    metric: Annotated[str, typer.Argument(metavar="METRIC", help="features, lines, correctness, skills ...")],
    clone: Annotated[
        list[str] | None, typer.Option("--clone", metavar="CLONE", help="From this clone, not the record; repeatable.")
    ] = None,
    timezone: Zone = "UTC",
) -> None:
    """Tell how one number came about: value, definition, version, and every change it rests on."""
    from bot.operating import explaining

    write(explaining.from_clones(clone, who, metric, timezone) if clone else explaining.from_record(who, metric))
