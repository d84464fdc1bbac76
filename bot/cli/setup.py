"""How is the bot set up, and what is wrong with an installation?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from msgspec import to_builtins

from bot.cli.options import AsJson
from bot.cli.printing import write


def setup(
    form: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the page to this file for a browser elsewhere, and wait for a pasted code."
        ),
    ] = None,
    organisation: Annotated[
        str, typer.Option(metavar="ORG", help="With --form: the organisation that will own the App.")
    ] = "",
    name: Annotated[
        str, typer.Option(metavar="NAME", help="With --form: the App's name, which no other App on that GitHub has.")
    ] = "",
    settings: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the App's settings and both keys to this file, for a platform without a disk.",
        ),
    ] = None,
    relay: Annotated[
        str | None, typer.Option(metavar="URL", help="Let GitHub send deliveries to this smee channel.")
    ] = None,
) -> None:
    """Register the App from this terminal.

    GitHub's answer, with the App's secrets, is saved in ALMANAC_DATA.
    """
    from bot.cli.operating import run
    from bot.setup.pages import NewApp

    new = NewApp(organisation, " ".join(name.split()))
    run.setup(form, new, relay=relay, settings_file=settings)


def doctor(
    no_network: Annotated[
        bool, typer.Option("--no-network", help="Make no requests, and list the checks left out.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check this installation.

    Says how to fix what is wrong; exits 1 if anything is wrong.
    """
    from bot.cli.operating import run

    findings = run.examine(network=not no_network)
    if as_json:
        write(json.dumps(to_builtins(findings), ensure_ascii=False, indent=2))
    else:
        write("".join(f"{finding}\n" for finding in findings))
    return 1 if any(finding.state == "WRONG" for finding in findings) else 0
