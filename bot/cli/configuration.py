"""What is wrong with a repository's configuration file?"""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.printing import write


def lint(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to check, for example .github/almanac.yml.")],
) -> int:
    """Check a configuration file.

    Prints its errors by line; exits 1 if there are any.
    """
    from bot.landing.repo_config.options import lint_file

    errors = lint_file(file)
    write(errors or f"{file}: nothing is wrong")
    return 1 if errors else 0
