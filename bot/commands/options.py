"""Which options do several commands share?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Clones = Annotated[list[str], typer.Argument(metavar="CLONE...", help="Folders of git clones, bare or not.")]
Who = Annotated[str, typer.Option("--author", metavar="WHO", help="A login, an e-mail or a name, compared whole.")]
Since = Annotated[str | None, typer.Option(metavar="YYYY-MM", help="First month that counts.")]
Until = Annotated[str | None, typer.Option(metavar="YYYY-MM", help="Last month that counts.")]
Zone = Annotated[str, typer.Option(metavar="ZONE", help="IANA time zone in which months are cut.")]
Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Write here instead of to standard output.")]
