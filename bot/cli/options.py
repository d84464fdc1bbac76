"""Which options do several commands share?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _current_folder() -> list[str]:
    return ["."]


Clones = Annotated[
    list[str],
    typer.Argument(
        metavar="[CLONE]...",
        default_factory=_current_folder,
        show_default=False,
        help="Folders of git clones, bare or not; this folder if none is named. Several are read as one record.",
    ),
]
Name = Annotated[
    str | None, typer.Option("--name", metavar="OWNER/REPO", help="The name of a single clone, whatever its origin is.")
]
Head = Annotated[
    str | None,
    typer.Option("--head", metavar="REF", help="Read this branch, tag or commit instead of the default branch."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Who = Annotated[str, typer.Option("--author", metavar="WHO", help="A complete login, email address or name.")]
Aliases = Annotated[
    list[str] | None,
    typer.Option("--alias", metavar="WHO", help="Another login, address or name of the same person; can be repeated."),
]
MailmapFile = Annotated[
    Path | None,
    typer.Option("--mailmap", metavar="FILE", help="A file like .mailmap that joins identities."),
]
_MONTH = "a month, or a date or tag in it"
Since = Annotated[str | None, typer.Option(metavar="WHEN", help=f"The first month to include: {_MONTH}.")]
Until = Annotated[str | None, typer.Option(metavar="WHEN", help=f"The last month to include: {_MONTH}.")]
Zone = Annotated[str, typer.Option(metavar="ZONE", help="The IANA time zone for calendar months.")]
Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file instead of standard output.")]
