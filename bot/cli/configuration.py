"""What is wrong with a repository's configuration file?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from bot.cli.options import AsJson
from bot.cli.printing import write


def lint(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to check, for example .github/almanac.yml.")],
    as_json: AsJson = False,
) -> int:
    """Check a configuration file.

    Prints its errors by line; exits 1 if there are any.
    """
    from bot.landing.repo_config.options import lint_file

    errors = lint_file(file)
    if as_json:
        found = [line.removeprefix(f"{file}: ") for line in errors.split("\n") if line]
        write(json.dumps({"file": file, "errors": found}, ensure_ascii=False, indent=2))
        return 1 if errors else 0
    write(errors or f"{file}: nothing is wrong")
    return 1 if errors else 0
