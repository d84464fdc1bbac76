"""What is wrong with a repository's configuration file?"""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.printing import write


def lint(file: Annotated[str, typer.Argument(metavar="FILE", help="The file, such as .github/almanac.yml.")]) -> int:
    """Say what is wrong with a configuration file, line by line; exit 1 if anything is."""
    from bot.landing.repo_config import lint_file

    told = lint_file(file)
    write(told or f"{file}: nothing is wrong")
    return 1 if told else 0
