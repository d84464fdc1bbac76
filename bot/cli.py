"""The commands: each reads its arguments, asks one room, and prints; bad input is one line on stderr and exit 2."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, BinaryIO, NoReturn

import typer

from bot.errors import UnusableInputError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="A GitHub App that keeps a verifiable record of every contributor's landed work.",
)
config_app = typer.Typer(
    no_args_is_help=True, help="The configuration file .github/almanac.yml.", rich_markup_mode=None
)
app.add_typer(config_app, name="config")

Clones = Annotated[list[str], typer.Argument(metavar="CLONE...", help="Folders of git clones, bare or not.")]
Who = Annotated[str, typer.Option("--author", metavar="WHO", help="A login, an e-mail or a name, compared whole.")]
Since = Annotated[str | None, typer.Option(metavar="YYYY-MM", help="First month that counts.")]
Until = Annotated[str | None, typer.Option(metavar="YYYY-MM", help="Last month that counts.")]
Zone = Annotated[str, typer.Option(metavar="ZONE", help="IANA time zone in which months are cut.")]
Output = Annotated[Path | None, typer.Option(metavar="FILE", help="Write here instead of to standard output.")]


def stop(*told: str, code: int = 2) -> NoReturn:
    """End with one line on stderr for each thing told, which says what to do."""
    for text in told:
        print(f"almanac: {' '.join(text.split())}", file=sys.stderr)  # noqa: T201 (this is the command line)
    raise SystemExit(code)


def write(text: str | Iterable[str], output: Path | None = None) -> None:
    """To the file, or to standard output as UTF-8 whatever the locale says; a whole text ends with a line end."""
    pieces = [text if text.endswith("\n") else text + "\n"] if isinstance(text, str) else text
    if output is None:
        _write_pieces(sys.stdout.buffer, pieces)
        return
    try:
        with output.open("wb") as file:
            _write_pieces(file, pieces)
    except OSError as error:
        stop(f"cannot write {output}: {error.strerror}")


def _write_pieces(file: BinaryIO, pieces: Iterable[str]) -> None:
    for piece in pieces:
        file.write(piece.encode("utf-8", "replace"))
    file.flush()


@app.command()
def profile(
    clones: Clones,
    author: Who,
    format_: Annotated[str, typer.Option("--format", help="json, text, markdown, html or svg.")] = "text",
    as_: Annotated[str, typer.Option("--as", help="named or anonymous.")] = "named",
    since: Since = None,
    until: Until = None,
    timezone: Zone = "UTC",
    output: Output = None,
) -> None:
    """Render one contributor's profile from clones."""
    from bot import offline

    offline.check_choice("--format", format_, ("json", "text", "markdown", "html", "svg", "csv", "atom", "jsonresume"))
    offline.check_choice("--as", as_, ("named", "anonymous"))
    window = offline.window(since, until, timezone)
    write(offline.profile(clones, author, window, form=format_, anonymous=as_ == "anonymous"), output)


@app.command()
def contributors(
    clones: Clones,
    format_: Annotated[str, typer.Option("--format", help="table, json or csv.")] = "table",
    timezone: Zone = "UTC",
) -> None:
    """List the people of clones, busiest first."""
    from bot import offline

    offline.check_choice("--format", format_, ("table", "json", "csv"))
    write(offline.contributors(clones, offline.window(None, None, timezone), form=format_))


@app.command()
def changes(
    clones: Clones,
    author: Annotated[str | None, typer.Option("--author", metavar="WHO", help="Only this person's.")] = None,
    frozen: Annotated[bool, typer.Option("--frozen", help="As scored at landing, with no later knowledge.")] = False,
    timezone: Zone = "UTC",
) -> None:
    """Print every landed change as JSON lines, oldest first."""
    from bot import offline

    for line in offline.changes(clones, author, offline.window(None, None, timezone), frozen=frozen):
        write(line)


@app.command()
def classify() -> None:
    """Read JSON lines {"message", "files"?, "diff"?} and answer {"kind", "why"} for each, in the same order."""
    from bot import offline

    for line in offline.classified(sys.stdin.buffer):
        write(line)


@app.command()
def demo(
    once: Annotated[bool, typer.Option("--once", help="End when the work is done, instead of staying up.")] = False,
) -> None:
    """Run the whole bot against a simulated organisation, and print the links."""
    from simulator.demo import run

    run(once=once)


@app.command()
def serve() -> None:
    """Run web, worker and month closer."""
    from bot import operate

    operate.serve()


@app.command()
def worker() -> None:
    """Run a worker alone, beside `almanac serve` on PostgreSQL."""
    from bot import operate

    operate.work()


@app.command()
def migrate() -> None:
    """Bring the database's tables to the newest version."""
    from bot import operate

    operate.migrate()


@app.command()
def verify(
    clones: Clones,
    profile: Annotated[Path, typer.Option(metavar="FILE", help="The published profile, in its JSON form.")],
    keys: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The publisher's keys, for a signed snapshot.")
    ] = None,
) -> int:
    """Recompute a published profile from clones and print the difference; exit 1 if there is any."""
    from bot.verify import verify_file

    differences = verify_file(clones, profile, keys=keys)
    for difference in differences:
        write(str(difference))
    if not differences:
        write("every field is the same")
    return 1 if differences else 0


@app.command()
def digest(
    repository: Annotated[str, typer.Argument(metavar="OWNER/REPO", help="A repository that the App is installed on.")],
    month: Annotated[str, typer.Option(metavar="YYYY-MM", help="The month to tell.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print it, and post nothing.")] = False,
) -> None:
    """Print one month's digest of a repository, and post it."""
    from bot import operate

    write(operate.digest(repository, month, dry_run=dry_run) or "nothing landed in that month")


@config_app.command("lint")
def lint(file: Annotated[str, typer.Argument(metavar="FILE", help="The file, such as .github/almanac.yml.")]) -> int:
    """Say what is wrong with a configuration file, line by line; exit 1 if anything is."""
    from bot.landing.repo_config import lint_file

    told = lint_file(file)
    write(told or f"{file}: nothing is wrong")
    return 1 if told else 0


def _ended(error: Exception) -> NoReturn:
    """Tell a person about an error that is theirs to mend; any other is a defect and keeps its traceback."""
    if isinstance(error, UnusableInputError):
        stop(*getattr(error, "lines", (str(error),)))  # settings tell everything that is wrong with them at once
    explain = getattr(error, "format_message", None)  # typer's usage errors, whose base class it does not export
    if explain is None:
        raise error
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        write(context.get_help())
        raise SystemExit(2)
    stop(f"{explain().rstrip('.')}; see: {context.command_path if context else 'almanac'} --help")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. Exit 0 done, 1 a check found a difference, 2 bad input."""
    try:
        code = app(args=arguments, prog_name="almanac", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        stop("stopped", code=130)
    except BrokenPipeError:
        # the reader of a pipe went away: that is no error of ours, and nothing more can be told
        sys.stderr.close()
        raise SystemExit(0) from None
    except Exception as error:
        _ended(error)
    raise SystemExit(code if isinstance(code, int) else 0)
