"""In which formats can a profile be rendered? `RENDERERS` lists them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bot.model.profile import Profile
from bot.render.html.page import render_html
from bot.render.images.options import PictureOptions
from bot.render.images.pictures import (
    render_badge,
    render_card,
    render_heatmap,
    render_languages,
    render_months,
    render_share,
)
from bot.render.text.atom import render_atom
from bot.render.text.csv import render_csv
from bot.render.text.json import render_json
from bot.render.text.json_resume import render_resume
from bot.render.text.markdown import render_markdown
from bot.render.text.seed import render_seed_page, render_seed_text
from bot.render.text.terminal import render_text

Renderer = Callable[[Profile], str]
PICTURES: Mapping[str, Callable[[Profile, PictureOptions], str]] = MappingProxyType(
    {
        "svg": render_card,
        "svg-badge": render_badge,
        "svg-heatmap": render_heatmap,
        "svg-months": render_months,
        "svg-languages": render_languages,
    }
)
"""name of the format -> function that draws it with a reader's options"""

RENDERERS: Mapping[str, Renderer] = MappingProxyType(
    {
        "json": render_json,
        "text": render_text,
        "markdown": render_markdown,
        "html": render_html,
        "svg": render_card,
        "svg-heatmap": render_heatmap,
        "svg-months": render_months,
        "svg-languages": render_languages,
        "svg-share": render_share,
        "svg-badge": render_badge,
        "csv": render_csv,
        "atom": render_atom,
        "jsonresume": render_resume,
        "seed": render_seed_page,
        "seed-text": render_seed_text,
    }
)
"""name of the format -> function from a profile to its text"""
