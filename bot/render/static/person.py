"""Which files does a site hold about one person? The page, the record in other formats, and pictures for a README."""

from __future__ import annotations

from collections.abc import Iterator

from bot.landing.repo_config.files import PEOPLE_PATH
from bot.model.profile import Profile
from bot.render.html.page import PageOptions, render_page
from bot.render.images.pictures import (
    in_scheme,
    render_badge,
    render_card,
    render_heatmap,
    render_languages,
    render_months,
)
from bot.render.text.atom import render_feed
from bot.render.text.csv import render_csv
from bot.render.text.json import render_json
from bot.render.text.markdown import render_markdown

PICTURES = {
    "card": render_card,
    "badge": render_badge,
    "heatmap": render_heatmap,
    "months": render_months,
    "languages": render_languages,
}
_HOME = "../../index.html"
_DATA = (("profile.json", "JSON"), ("profile.csv", "CSV"), ("profile.md", "Markdown"), ("feed.atom", "feed"))


def person_files(profile: Profile) -> Iterator[tuple[str, str]]:
    """(name, text) of every file in the person's folder, two folders below the first page."""
    yield "index.html", render_page(profile, _options())
    yield "profile.json", render_json(profile)
    yield "profile.csv", render_csv(profile)
    yield "profile.md", render_markdown(profile)
    yield "feed.atom", render_feed(profile, address="feed.atom", page="index.html")
    for name, render in PICTURES.items():
        picture = render(profile)
        yield f"{name}.svg", picture
        yield f"{name}-light.svg", in_scheme(picture, "light")
        yield f"{name}-dark.svg", in_scheme(picture, "dark")


def _options() -> PageOptions:
    pictures = ((f"{name}.svg", name) for name in PICTURES)
    return PageOptions(
        public=True,
        record="profile.json",
        feed="feed.atom",
        home=_HOME,
        files=(*pictures, *_DATA),
        people_file=PEOPLE_PATH,
    )
