"""How is a site of files made from clones, without a server?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import Clones, Head, MailmapFile, Name, Zone
from bot.cli.printing import escape_controls, write


def site(
    clones: Clones,
    output: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the site; files of others stay.")],
    ask_github: Annotated[
        bool,
        typer.Option("--ask-github", help="Let a line count only if GitHub names the same author (`GITHUB_TOKEN`)."),
    ] = False,
    mailmap: MailmapFile = None,
    name: Name = None,
    head: Head = None,
    timezone: Zone = "UTC",
) -> None:
    """Write a site of pages, pictures and data.

    It shows the months of the repositories, and the people who added themselves to .github/almanac-people.yml.
    """
    from bot.cli.recomputing.offline import read_window
    from bot.cli.recomputing.site import ask_github as asking
    from bot.cli.recomputing.site.build import SiteOptions, build_site

    options = SiteOptions(mailmap, name, head, asking.ask_github if ask_github else None)
    report = build_site(clones, output, read_window(None, None, timezone), options)
    for note in report.notes:
        sys.stderr.write(escape_controls(note) + "\n")
    if not report.people:
        write("nobody has a page: whoever wants one adds a line to .github/almanac-people.yml by a commit of their own")
    count = report.count
    write(
        f"{count.written} files written, {count.unchanged} unchanged, {count.deleted} deleted: {output / 'index.html'}"
    )
