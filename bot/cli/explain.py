"""How did one number of a profile come about, according to the record or to clones?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from bot.cli.options import AsJson, Zone
from bot.cli.printing import show, write


def explain(
    who: Annotated[str, typer.Argument(metavar="LOGIN", help="A login; with --clone also an email address or a name.")],
    metric: Annotated[
        str, typer.Argument(metavar="METRIC", help="The metric, for example features, lines, correctness or skills.")
    ],
    clone: Annotated[
        list[str] | None,
        typer.Option("--clone", metavar="CLONE", help="Read this clone instead of the record; can be repeated."),
    ] = None,
    timezone: Zone = "UTC",
    as_json: AsJson = False,
) -> None:
    """Explain one number of a profile.

    Prints its value, definition and version, and every change behind it.
    """
    from bot.cli.operating import explain as explaining

    found = explaining.from_clones(clone, who, metric, timezone) if clone else explaining.from_record(who, metric)
    write(json.dumps(found.as_object(), ensure_ascii=False, indent=2)) if as_json else show(found.text())
