"""Does no format of an anonymous page contain words that identify the person, or personal repositories?"""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from bot.configuration.signing import signing_key
from bot.landing.changes import fold
from bot.model.commit import Repository, Signature
from bot.model.ids import RepositoryId, UserId
from bot.render.anonymity import PERSONAL, WITHHELD
from bot.render.redaction import redact_names
from bot.render.text.json import schema
from bot.store import installations, visibility
from bot.store.engine import Store
from bot.web.responses import FORMATS
from tests.databases import ON_SQLITE, database_url, store
from tests.web.library import ACME, ADA_KEY, NOW, OPEN, fact, fill, keep, publish, serve

__all__ = ["database_url", "store"]

ZELDA = Signature("Zelda Quillfeather", "zelda.mail@example.org", UserId(7), "zelda-q")
OWN = RepositoryId(70)
CANARIES = ("zelda", "quillfeather", "zelda-q", "dotfolder", "zelda.mail")
TITLES = (
    "Merge zelda-q/fix-the-gate into main",
    "Say that Quillfeather wrote it",
    "Add ZELDA.MAIL@example.org to the list",
    "Thank Zelda Quillfeather (zelda-q/dotfolder#3)",
)


async def world(store: Store) -> str:
    """Work under telling titles in an organisation, and work in an own repository; the base of the page."""
    await fill(store)
    with store.transaction() as connection:
        installations.save_repositories(connection, ACME, [Repository("zelda-q/dotfolder", OWN)], NOW)
    named = [fact(60 + at, "acme/open", author=ZELDA, title=title) for at, title in enumerate(TITLES)]
    await keep(store, OPEN, named)
    own = [fact(-900, "zelda-q/dotfolder", author=ZELDA, title="Add a prompt", languages={"Shell": 400})]
    own += [fact(70, "zelda-q/dotfolder", author=ZELDA, title="Mend it", kind="bug_fix", pull_request=3)]
    own += [replace(fact(75, "zelda-q/dotfolder", author=ZELDA, title="Turn it"), reverts=(own[0].commit,))]
    await keep(store, OWN, own)
    await publish(store, naming="anonymous")
    with store.snapshot() as connection:
        state = visibility.person_state(connection, ADA_KEY)
    assert state is not None
    return f"/anonymous/{state.alias}"


def leaks(text: str) -> list[str]:
    return [word for word in CANARIES if word in text.lower()]


@ON_SQLITE
async def test_no_format_contains_a_word_that_identifies_the_person(store: Store) -> None:
    base = await world(store)
    async with serve(store) as site:
        ends = [f".{form.suffix}" for form in FORMATS if form.suffix]
        for end in ("", *ends, "/months/2026-03", "/months/2026-01", "/compare/2026-01/2026-03"):
            status, headers, body = await site.get(base + end)
            assert (status, leaks(body.decode() + str(headers))) == (200, []), end


async def test_own_repositories_are_shown_without_their_name(store: Store) -> None:
    base = await world(store)
    async with serve(store) as site:
        text = await site.text(f"{base}.json")
    told = json.loads(text)
    jsonschema.validate(told, schema())
    assert PERSONAL in {row["full_name"] for row in told["repositories"]}
    own = [row for row in told["changes"] if row["repository"] == PERSONAL]
    assert len(own) == 3
    assert not any(row["commits"] or row["url"] for row in own)
    known = {row["id"] for row in told["changes"]}
    cited = {key for month in told["months"] for item in month["items"] for key in item["changes"]}
    cited |= {key for sentence in told["narrative"]["sentences"] for key in sentence["evidence"]}
    assert cited <= known


@ON_SQLITE
async def test_the_numbers_are_those_of_the_named_page(store: Store) -> None:
    base = await world(store)
    async with serve(store) as site:
        unnamed = json.loads(await site.text(f"{base}.json"))
        await publish(store, naming="named")
        named = json.loads(await site.text("/@zelda-q.json"))
    for part in ("overall", "activity", "ai_usage"):
        assert unnamed[part] == named[part], part
    for one, other in zip(unnamed["months"], named["months"], strict=True):
        assert [one[name] for name in ("commits", "features", "bugs")] == [
            other[name] for name in ("commits", "features", "bugs")
        ]
    for name in ("correctness", "maintainability", "performance"):
        assert unnamed["quality"][name]["at_risk"] == named["quality"][name]["at_risk"]


async def test_a_snapshot_of_an_unnamed_page_names_nobody_either(store: Store, tmp_path: Any) -> None:
    from bot.model.ids import Month
    from bot.web.month_snapshots import take_month_snapshots
    from tests.web.test_month_snapshots import LATER, pages_of

    base = await world(store)
    key = signing_key(tmp_path / "key.pem")
    assert await take_month_snapshots(pages_of(store, key, LATER), ADA_KEY, Month("2026-03")) == 1
    async with serve(store, signing=key) as site:
        assert "/snapshots/" in await site.text(base)
        link = (await site.text(base)).partition(f"{base}/snapshots/")[2][:32]
        assert leaks(await site.text(f"{base}/snapshots/{link}")) == []


@pytest.mark.parametrize(
    ("title", "masked"),
    [
        ("Let zelda-q's branch in", "Let [name]'s branch in"),
        ("zeldaish things stay", "zeldaish things stay"),
        ("Zelda and zelda", "[name] and zelda"),
        ("Mail zelda.mail@example.org", "Mail [name]"),
    ],
)
def test_whole_words_are_masked_and_parts_of_a_name_only_as_they_are_written(title: str, masked: str) -> None:
    (change,) = redact_names(fold([fact(1, "acme/open", author=ZELDA, title=title)], {}), {ADA_KEY})
    assert change.title == masked


def test_a_person_with_hundreds_of_names_is_shown_without_text() -> None:
    many = tuple(replace(ZELDA, name=f"Zelda {number}x{number}") for number in range(400))
    landed = [fact(1, "acme/open", author=ZELDA, co_authors=many, title="Add a lamp\nand a bell")]
    assert [change.title for change in redact_names(fold(landed, {}), {ADA_KEY})] == [WITHHELD]


MARKER = "Plant marker 5f3a in the greenhouse"


@ON_SQLITE
async def test_who_pushes_a_marker_finds_the_anonymous_page_by_no_public_route(store: Store) -> None:
    """The attacker lands a commit in a public repository, then looks through every public address for it."""
    base = await world(store)
    await keep(store, OPEN, [fact(80, "acme/open", author=ZELDA, title=MARKER)])
    async with serve(store) as site:
        assert MARKER in await site.text(base)
        routes = ["/", "/robots.txt", "/sitemap.xml", "/definitions", "/@zelda-q", "/@zelda-q.json", "/@zelda-q.svg"]
        routes += ["/@zelda-q.atom", "/anonymous/", "/anonymous/zelda-q", "/acme", "/@acme", "/organisations/acme"]
        seen: dict[str, str] = {}
        while routes:
            path = routes.pop()
            _, headers, body = await site.get(path)
            seen[path] = f"{headers} {body.decode('utf-8', 'replace')}"
            found = re.findall(r"(?:href|src|<loc>)[=\"'>]*(?:https?://[^/\s<>\"']+)?(/[^\s<>\"'#?]*)", seen[path])
            routes += [link for link in dict.fromkeys(found) if link not in seen and link not in routes]
        assert len(seen) > 12
        assert [
            path for path, text in seen.items() if "/anonymous/" in path + text and path[:11] != "/anonymous/"
        ] == []
        for address in (base, f"{base}.json", f"{base}.svg", f"{base}.atom", f"{base}/months/2026-03"):
            status, headers, _ = await site.get(address)
            assert (status, headers["X-Robots-Tag"]) == (200, "noindex"), address


@ON_SQLITE
async def test_an_anonymous_page_says_what_it_protects_and_names_no_address_of_its_own(store: Store) -> None:
    base = await world(store)
    async with serve(store) as site:
        page = await site.text(base)
        for text in (page, await site.text(f"{base}.txt"), await site.text(f"{base}.md")):
            assert "traced" in " ".join(text.split())
        assert "canonical" not in page
        assert "og:image" not in page
        await publish(store, naming="named")
        assert "traced" not in await site.text("/@zelda-q")
