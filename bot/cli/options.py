"""Which options do several commands share?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Clones = Annotated[
    list[str],
    typer.Argument(metavar="CLONE...", help="Folders of git clones, bare or not. Several are read as one record."),
]
Who = Annotated[str, typer.Option("--author", metavar="WHO", help="A complete login, email address or name.")]
Aliases = Annotated[
    list[str] | None,
    typer.Option("--alias", metavar="WHO", help="Another login, address or name of the same person; can be repeated."),
]
MailmapFile = Annotated[
    Path | None,
    typer.Option("--mailmap", metavar="FILE", help="A file like .mailmap that joins identities."),
]
Since = Annotated[str | None, typer.Option(metavar="YYYY-MM", help="The first month to include.")]
Until = Annotated[str | None, typer.Option(metavar="YYYY-MM", help="The last month to include.")]
Zone = Annotated[str, typer.Option(metavar="ZONE", help="The IANA time zone for calendar months.")]
Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file instead of standard output.")]
