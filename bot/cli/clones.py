"""What can git clones answer without a service? Profiles, people, changes, kinds, and whether a profile is true."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import Aliases, AsJson, Clones, Head, MailmapFile, Name, Output, Since, Until, Who, Zone
from bot.cli.printing import show, write

PICTURES = ("badge", "heatmap", "months", "languages")
FORMS = ("json", "text", "markdown", "html", "csv", "atom", "jsonresume", "svg", *PICTURES)
_FORM_BY_ENDING = {
    "txt": "text",
    "md": "markdown",
    "htm": "html",
    "xml": "atom",
    **{form: form for form in ("json", "markdown", "html", "csv", "atom", "svg")},
}
_LIST_BY_ENDING = {"txt": "table", "json": "json", "csv": "csv"}
_READ_BY_PEOPLE = ("text", "markdown", "table")


def _form(given: str | None, output: Path | None, by_ending: Mapping[str, str], default: str) -> str:
    """The format that was named, else that of the output file's ending."""
    if given is not None:
        return "markdown" if given == "md" else given
    return by_ending.get(output.suffix[1:].lower(), default) if output is not None else default


def profile(
    clones: Clones,
    author: Who,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help=f"Output format: {', '.join(FORMS[:-1])} or {FORMS[-1]}. Without it, the ending of --output decides.",
        ),
    ] = None,
    as_: Annotated[str, typer.Option("--as", help="Show the person as named or anonymous.")] = "named",
    compat: Annotated[
        str | None, typer.Option("--compat", help="Imitate another product: seed (its page) or seed-text.")
    ] = None,
    alias: Aliases = None,
    mailmap: MailmapFile = None,
    name: Name = None,
    head: Head = None,
    since: Since = None,
    until: Until = None,
    timezone: Zone = "UTC",
    hide: Annotated[
        str | None,
        typer.Option("--hide", metavar="PARTS", help="Parts of a picture to leave out, separated by commas."),
    ] = None,
    width: Annotated[str | None, typer.Option("--width", metavar="PIXELS", help="The width of a picture.")] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The title of a picture.")] = None,
    theme: Annotated[str | None, typer.Option("--theme", help="The colours of a picture: auto, light or dark.")] = None,
    output: Output = None,
) -> None:
    """Render one contributor's profile from git clones."""
    from bot.cli.recomputing import offline
    from bot.cli.recomputing.identities import PersonQuery

    kind = _form(format_, output, _FORM_BY_ENDING, "text")
    offline.check_choice("--format", kind, FORMS)
    offline.check_choice("--as", as_, ("named", "anonymous"))
    if compat is not None:
        offline.check_choice("--compat", compat, ("seed", "seed-text"))
    window = offline.read_window(since, until, timezone)
    who = PersonQuery(author, tuple(alias or ()), mailmap, name, head)
    form = compat or (f"svg-{kind}" if kind in PICTURES else kind)
    chosen = {"hide": hide, "width": width, "title": title, "theme": theme}
    options = offline.picture_options(form, {key: value for key, value in chosen.items() if value is not None})
    found = offline.profile(clones, who, window, form=(form, options), anonymous=as_ == "anonymous")
    show(found) if output is None and form in _READ_BY_PEOPLE else write(found, output)


def contributors(
    clones: Clones,
    format_: Annotated[str | None, typer.Option("--format", help="Output format: table, json or csv.")] = None,
    join_names: Annotated[
        bool, typer.Option("--join-names", help="Give people who have the same full name one row.")
    ] = False,
    range_: Annotated[
        str | None, typer.Option("--range", metavar="A..B", help="Count only the commits between two tags or commits.")
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="With --range, list only those who had no commit before it.")
    ] = False,
    mailmap: MailmapFile = None,
    name: Name = None,
    head: Head = None,
    timezone: Zone = "UTC",
    output: Output = None,
) -> None:
    """List the contributors in git clones.

    The most active come first. Rows that share a full name are marked.
    """
    from bot.cli.recomputing import contributor_list, offline

    form = _form(format_, output, _LIST_BY_ENDING, "table")
    offline.check_choice("--format", form, ("table", "json", "csv"))
    options = contributor_list.ListOptions(range_, new, join_names, mailmap, name, head)
    found = contributor_list.contributors(clones, offline.read_window(None, None, timezone), options, form=form)
    show(found) if output is None and form in _READ_BY_PEOPLE else write(found, output)


def changes(
    clones: Clones,
    author: Annotated[
        str | None, typer.Option("--author", metavar="WHO", help="Print only the changes of this person.")
    ] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Print each change as it was at landing, without later facts.")
    ] = False,
    alias: Aliases = None,
    mailmap: MailmapFile = None,
    name: Name = None,
    head: Head = None,
    timezone: Zone = "UTC",
) -> None:
    """Print every landed change as JSON.

    One line per change, oldest first.
    """
    from bot.cli.recomputing import offline
    from bot.cli.recomputing.identities import PersonQuery

    who = PersonQuery(author, tuple(alias or ()), mailmap, name, head)
    for line in offline.changes(clones, who, offline.read_window(None, None, timezone), frozen=frozen):
        write(line)


def classify() -> None:
    """Print the kind of given changes.

    Reads lines of JSON {"message", "files"?, "diff"?} from standard input and prints {"kind", "why"} for each.
    """
    from bot.cli.recomputing import offline

    for line in offline.classify_lines(sys.stdin.buffer):
        write(line)


def verify(
    clones: Clones,
    profile: Annotated[Path, typer.Option(metavar="FILE", help="The published profile in JSON format.")],
    keys: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The publisher's keys, to check a snapshot's signature.")
    ] = None,
    name: Name = None,
    as_json: AsJson = False,
) -> int:
    """Recompute a published profile and compare.

    Prints the differences; exits 1 if there are any, and 2 if profile and clones cannot be compared.

    Corrections by people, and what only GitHub knew, come from the profile; each of them is printed.
    """
    from bot.cli.recomputing.verify import examine_file

    found = examine_file(clones, profile, keys=keys, name=name)
    if as_json:
        write(json.dumps(found.as_object(), ensure_ascii=False, indent=2))
        return 1 if found.differences else 0
    for stated in found.stated:
        write(f"stated by the publisher, not in the clone: {stated}")
    for difference in found.differences:
        write(str(difference))
    if not found.differences:
        write("every other field is the same" if found.stated else "every field is the same")
    return 1 if found.differences else 0
