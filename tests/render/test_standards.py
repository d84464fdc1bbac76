"""Do feeds and CVs follow their standards: RFC 4287 rule by rule, and the published schema of JSON Resume?"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from msgspec.structs import replace

from bot.model.profile import Contributor, Profile
from bot.render import RENDERERS
from bot.render.text.atom import render_feed

from .factories import empty_profile, long_profile, small_profile
from .hostile import payloads

PACKAGE = "@jsonresume/schema@1.3.1"
INSTALLED = Path(__file__).parents[2] / "build" / "extras" / "node_modules" / "@jsonresume" / "schema" / "schema.json"
ATOM = "{http://www.w3.org/2005/Atom}"
# Elements of the namespace by their parent: (least, most) times. RFC 4287, 4.1.1 and 4.1.2.
FEED = {"id": (1, 1), "title": (1, 1), "updated": (1, 1), "author": (1, 99), "generator": (0, 1), "link": (0, 99)}
FEED |= {"subtitle": (0, 1), "rights": (0, 1), "logo": (0, 1), "icon": (0, 1), "category": (0, 99), "entry": (0, 9999)}
ENTRY = {"id": (1, 1), "title": (1, 1), "updated": (1, 1), "published": (0, 1), "summary": (0, 1), "content": (0, 1)}
ENTRY |= {"author": (0, 99), "link": (0, 99), "category": (0, 99), "rights": (0, 1), "source": (0, 1)}
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]+")
PROFILES = {
    "small": small_profile(),
    "empty": empty_profile(),
    "long": long_profile(months=30),
    "unnamed": replace(small_profile(), contributor=Contributor("Anonymous contributor", "anonymous")),
    **{
        f"hostile {at}": replace(small_profile(), contributor=Contributor(text))
        for at, text in enumerate(payloads()[:6])
    },
}


def faults(feed: ElementTree.Element) -> list[str]:
    """What RFC 4287 forbids in this feed."""
    found = [] if feed.tag == ATOM + "feed" else ["2: the root is no feed"]
    found += _children(feed, FEED)
    ids = [_text(entry, "id") for entry in feed.findall(ATOM + "entry")]
    found += [] if len(set(ids)) == len(ids) else ["4.1.1: two entries have one id"]
    for entry in feed.findall(ATOM + "entry"):
        found += _children(entry, ENTRY)
        alternates = [
            (one.get("type"), one.get("hreflang")) for one in entry.findall(ATOM + "link") if _is_alternate(one)
        ]
        found += [] if len(set(alternates)) == len(alternates) else ["4.1.2: two alternates of one type"]
        if entry.find(ATOM + "content") is None and not alternates:
            found.append("4.1.2: neither content nor an alternate")
    for one in feed.iter():
        found += _own(one)
    return found


def _text(parent: ElementTree.Element, name: str) -> str:
    return parent.findtext(ATOM + name) or ""


def _is_alternate(link: ElementTree.Element) -> bool:
    return link.get("rel", "alternate") == "alternate"


def _children(parent: ElementTree.Element, allowed: dict[str, tuple[int, int]]) -> list[str]:
    names = [child.tag.removeprefix(ATOM) for child in parent]
    found = [f"{parent.tag}: {name} may not stand here" for name in names if name not in allowed]
    for name, (least, most) in allowed.items():
        if not least <= names.count(name) <= most:
            found.append(f"{parent.tag}: {name} stands {names.count(name)} times")
    return found


def _own(one: ElementTree.Element) -> list[str]:
    """What one element may hold: dates (3.3), absolute IRIs as ids (4.2.6), a name (3.2.1), links (4.2.7)."""
    name, text = one.tag.removeprefix(ATOM), one.text or ""
    if name in ("updated", "published"):
        good = bool(DATE.fullmatch(text)) and datetime.fromisoformat(text).tzinfo is not None
    elif name == "id":
        good = bool(IRI.fullmatch(text))
    elif name == "author":
        good = len(one.findall(ATOM + "name")) == 1 and bool(_text(one, "name").strip())
    elif name == "link":
        good = bool(IRI.fullmatch(one.get("href", ""))) and not text.strip()
    elif name in ("title", "content", "summary"):
        good = one.get("type", "text") == "text" and not len(one)
    else:
        good = True
    return [] if good else [f"{name} holds {text or one.attrib!r}"]


def parse_xml(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.encode())  # noqa: S314 - what the renderer wrote itself


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_a_feed_follows_every_rule_of_its_standard(name: str) -> None:
    profile = PROFILES[name]
    served = render_feed(profile, "https://almanac.example/@a.atom", "https://almanac.example/@a")
    for text in (RENDERERS["atom"](profile), served):
        assert faults(parse_xml(text)) == []
    links = {one.get("rel"): one.get("href") for one in parse_xml(served).findall(ATOM + "link")}
    assert links == {"self": "https://almanac.example/@a.atom", "alternate": "https://almanac.example/@a"}


def test_the_rules_see_what_is_wrong() -> None:
    text = render_feed(small_profile(), "https://almanac.example/@a.atom", "https://almanac.example/@a")
    for right, wrong in (("<id>", "<id> x"), ("Z</updated>", "</updated>"), ("<title>", "<subject/><title>")):
        assert faults(parse_xml(text.replace(right, wrong, 1)))
    assert faults(parse_xml(re.sub("<author>.*</author>", "", text, count=1)))


@pytest.fixture(scope="module")
def resume_schema(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """JSON Resume's own schema: installed beforehand, or now; skips loudly where neither can be."""
    if INSTALLED.is_file():
        return json.loads(INSTALLED.read_text("utf-8"))
    folder, npm = tmp_path_factory.mktemp("resume"), shutil.which("npm")
    if npm:
        (folder / "package.json").write_text("{}")
        command = [npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", PACKAGE]
        try:
            subprocess.run(command, cwd=folder, capture_output=True, timeout=60, env=os.environ.copy(), check=True)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            npm = None
    if npm is None:
        reason = f"NOT RUN: CVs were not checked by their schema, because npm cannot install {PACKAGE}"
        warnings.warn(reason, stacklevel=1)
        pytest.skip(reason)
    return json.loads((folder / "node_modules" / "@jsonresume" / "schema" / "schema.json").read_text("utf-8"))


def resume(profile: Profile) -> Any:
    return json.loads(RENDERERS["jsonresume"](profile))


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_a_cv_satisfies_the_published_schema(name: str, resume_schema: Any) -> None:
    validator = jsonschema.Draft7Validator(resume_schema, format_checker=jsonschema.FormatChecker())
    assert [error.message for error in validator.iter_errors(resume(PROFILES[name]))] == []


def test_the_published_schema_sees_what_is_wrong(resume_schema: Any) -> None:
    wrong = resume(small_profile())
    wrong["projects"][0]["startDate"] = "last spring"
    assert not jsonschema.Draft7Validator(resume_schema).is_valid(wrong)
