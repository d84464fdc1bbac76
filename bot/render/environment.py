"""Where do compiled templates come from? There is one cached environment for HTML and SVG and one for Markdown."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from bot.render.escaping import finalize_value
from bot.render.markdown_escaping import only_md_text

if TYPE_CHECKING:
    from jinja2 import Environment, Template


@cache
def template(name: str) -> Template:
    """The compiled template of that name; its suffix selects the environment."""
    return (_markdown() if name.endswith(".md") else _markup()).get_template(name)


@cache
def source(name: str) -> str:
    """The text of a file in `templates/`."""
    from importlib import resources

    return resources.files("bot.render").joinpath("templates", name).read_text("utf-8")


@cache
def _markup() -> Environment:
    return _environment(autoescape=True, finalize=finalize_value)


@cache
def _markdown() -> Environment:
    return _environment(autoescape=False, finalize=only_md_text)


def _environment(*, autoescape: bool, **options: Any) -> Environment:
    # importing jinja2 takes tens of milliseconds; the JSON and text formats do not need it
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        autoescape=autoescape,  # noqa: S701 - off only for Markdown, where only_md_text guards every value
        loader=FunctionLoader(source),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        **options,
    )
