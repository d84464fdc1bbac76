"""Which commands are there? `COMMANDS` lists them all; bad input gives one line on stderr and exit code 2."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from bot.cli import clones, configuration, digests, explain, history, jobs, records, run, setup, site
from bot.cli.printing import stop, write
from bot.configuration.errors import NO_ROOM, UnusableInputError

_COMPLETION = "_ALMANAC_COMPLETE" in os.environ or any("-completion" in word for word in sys.argv[1:2])
"""Loading it takes a third of the start, so it is there only where it is asked for."""

app = typer.Typer(
    add_completion=_COMPLETION,
    epilog="almanac --install-completion completes commands and options in bash, zsh and fish.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_VERSION = "Print the version of the program and of the metric definitions."


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        from bot.metrics import METHOD_VERSION

        write(f"almanac {version('contributor-almanac')}, definitions {METHOD_VERSION}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help=_VERSION)] = False,
) -> None:
    """A GitHub App that keeps a verifiable record of every contributor's landed work."""


config_app = typer.Typer(no_args_is_help=True, help="Check a repository's configuration.", rich_markup_mode=None)
app.add_typer(config_app, name="config")
jobs_app = typer.Typer(no_args_is_help=True, help="Inspect and repair the queue of jobs.", rich_markup_mode=None)
app.add_typer(jobs_app, name="jobs")

COMMANDS = (
    clones.profile,
    clones.contributors,
    clones.changes,
    clones.classify,
    run.demo,
    run.serve,
    run.worker,
    run.migrate,
    setup.setup,
    setup.doctor,
    clones.verify,
    site.site,
    explain.explain,
    digests.digest,
    history.backfill,
    history.catch_up,
    records.replay,
    records.export,
    records.forget,
    records.rebuild,
    records.move,
)
for command in COMMANDS:
    app.command()(command)
config_app.command("lint")(configuration.lint)
for word, called in (("list", jobs.list_), ("show", jobs.show), ("replay", jobs.replay), ("cancel", jobs.cancel)):
    jobs_app.command(word)(called)


def _ended(error: Exception) -> NoReturn:
    """Print an error that the user can fix; any other is a defect and keeps its traceback."""
    if isinstance(error, UnusableInputError):
        stop(*getattr(error, "lines", (str(error),)))  # settings report everything that is wrong with them at once
    explain = getattr(error, "format_message", None)  # typer's usage errors, whose base class it does not export
    if explain is None:
        raise error
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        write(context.get_help())
        raise SystemExit(2)
    stop(f"{explain().rstrip('.')}; see: {context.command_path if context else 'almanac'} --help")


def _open_streams() -> None:
    """Replace a closed standard stream by a null device, or the next opened file would get its number.

    Output is UTF-8, whatever the locale says.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+"))  # noqa: SIM115 (for as long as the process lives)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")


def _stop_writing(error: OSError) -> NoReturn:
    """Discard what a full disk refused, because writing it again at the end would fail too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    stop(f"cannot write{f' {error.filename}' if error.filename else ''}: {error.strerror}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. Exit 0: done, 1: a check found a difference, 2: bad input; 130 and 141 as in a shell."""
    atexit.register(gc.freeze)  # the process ends and frees everything: no need to look for cycles first
    _open_streams()
    try:
        code = app(args=arguments, prog_name="almanac", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        stop("stopped", code=130)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            # the reader went away: typer would say 1, a difference found
            raise SystemExit(128 + signal.SIGPIPE) from None
        raise
    except OSError as error:
        if error.errno in NO_ROOM:
            _stop_writing(error)
        raise
    except Exception as error:
        _ended(error)
    raise SystemExit(code if isinstance(code, int) else 0)
