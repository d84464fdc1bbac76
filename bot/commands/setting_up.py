"""How is the bot set up, and what is wrong with an installation?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.commands.printing import write


def setup(
    form: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the page here, for a browser elsewhere, and wait for a pasted code."),
    ] = None,
    organisation: Annotated[str, typer.Option(metavar="ORG", help="With --form: who will own the App.")] = "",
    relay: Annotated[
        str | None, typer.Option(metavar="URL", help="A smee channel that deliveries are to be sent to.")
    ] = None,
) -> None:
    """Register the App at GitHub from this terminal, and keep its secrets."""
    from bot.operating import running

    running.setup(form, organisation=organisation, relay=relay)


def doctor(
    no_network: Annotated[bool, typer.Option("--no-network", help="Ask nobody; say what was not checked.")] = False,
) -> int:
    """Check this installation, and say what to do about what is wrong; exit 1 if anything is."""
    from bot.operating import running

    findings = running.examine(network=not no_network)
    for finding in findings:
        write(str(finding))
    return 1 if any(finding.state == "WRONG" for finding in findings) else 0
