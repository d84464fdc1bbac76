"""Do organisation pages show only sums over enough people and changes without people, so nobody is singled out?"""

from __future__ import annotations

import re

import html5lib

from bot.model.commit import Signature
from bot.model.ids import PersonKey, UserId
from bot.store import people, visibility
from bot.store.engine import Store
from bot.store.visibility import subject_of_installation
from tests.databases import ON_SQLITE, database_url, store
from tests.web.library import ACME, CLOSED, NOW, OPEN, fact, fill, keep, mint, publish, serve

__all__ = ["database_url", "store"]

MONTH = "/repositories/open/2026-03"


def _crew(number: int) -> Signature:
    return Signature(f"Crew {number}", f"crew{number}@example.org", UserId(100 + number), f"crew-{number}")


async def _staff(store: Store, number: int = 4) -> None:
    """Ada and `number` others in March 2026; in November 2025 only Ada, as `fill` leaves it."""
    await fill(store)
    await keep(store, OPEN, [fact(50 + one, "acme/open", author=_crew(one)) for one in range(number)])
    with store.transaction() as connection:
        visibility.publish(connection, subject_of_installation(ACME), public=True, now=NOW)


async def test_an_organisation_is_private_until_it_says_otherwise(store: Store) -> None:
    await _staff(store)
    async with serve(store) as site:
        absent = await site.get("/organisations/nobody")
        assert "acme/open" in await site.text("/organisations/acme")
        with store.transaction() as connection:
            visibility.publish(connection, subject_of_installation(ACME), public=False, now=NOW)
        for path in ("/organisations/acme", f"/organisations/acme{MONTH}"):
            assert await site.get(path) == absent


async def test_months_with_fewer_than_five_people_are_in_no_sum(store: Store) -> None:
    await _staff(store)
    async with serve(store) as site:
        text = await site.text("/organisations/acme")
    assert "<dt>People</dt><dd>5</dd>" in text
    assert "<dt>Commits</dt><dd>7</dd>" in text
    assert "fewer than five people took part: Feb 2026" in text.replace("February", "Feb")
    assert not any(name in text for name in ("Ada", "Crew", "crew-", "ada-example"))


async def test_four_people_are_too_few_for_a_page_of_sums(store: Store) -> None:
    await _staff(store, 3)
    async with serve(store) as site:
        assert (await site.get("/organisations/acme"))[0] == 404
        assert (await site.get(f"/organisations/acme{MONTH}"))[0] == 200


async def test_people_who_opted_out_are_in_no_sum_and_no_list(store: Store) -> None:
    await _staff(store, 5)
    async with serve(store) as site:
        assert "<dt>People</dt><dd>6</dd>" in await site.text("/organisations/acme")
        with store.transaction() as connection:
            people.opt_out(connection, PersonKey("u:100"), NOW)
        text = await site.text("/organisations/acme")
        assert "<dt>People</dt><dd>5</dd>" in text
        assert "Add part 50" not in await site.text(f"/organisations/acme{MONTH}")


async def test_a_repositorys_month_lists_changes_and_no_people(store: Store) -> None:
    await _staff(store)
    async with serve(store) as site:
        text = await site.text(f"/organisations/acme{MONTH}")
        for path in ("/repositories/open/2024-01", "/repositories/open/2026-13", "/repositories/secret-plan/2026-03"):
            assert (await site.get(f"/organisations/acme{path}"))[0] == 404
    assert "Add part 30" in text
    assert "Fix the gate" not in text
    assert not any(name in text for name in ("Ada", "Crew", "crew-"))
    html5lib.HTMLParser(strict=True).parse(text)


async def test_an_organisation_link_opens_private_pages_only_if_created_for_them(store: Store) -> None:
    await _staff(store)
    await keep(store, CLOSED, [fact(20 + one, "acme/secret-plan", author=_crew(one)) for one in range(5)])
    subject = subject_of_installation(ACME)
    plain, private = await mint(store, subject=subject), await mint(store, subject=subject, private=True)
    async with serve(store) as site:
        assert "secret" not in await site.text(f"/p/{plain}")
        assert "acme/secret-plan" in await site.text(f"/p/{private}")
        assert (await site.get(f"/p/{plain}/repositories/secret-plan/2026-03"))[0] == 404
        assert "Plan the secret" in await site.text(f"/p/{private}/repositories/secret-plan/2026-03")
        assert (await site.get(f"/p/{plain}/months/2026-03"))[0] == 404
        html5lib.HTMLParser(strict=True).parse(await site.text(f"/p/{private}"))


async def test_a_machine_counts_nowhere(store: Store) -> None:
    await _staff(store, 3)
    machine = Signature("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com", bot=True)
    await keep(store, OPEN, [fact(70, "acme/open", author=machine, title="Bump the part")])
    async with serve(store) as site:
        assert (await site.get("/organisations/acme"))[0] == 404
        assert "Bump the part" not in await site.text(f"/organisations/acme{MONTH}")


async def test_a_repository_with_few_people_has_no_separate_sums(store: Store) -> None:
    await _staff(store)
    await keep(store, CLOSED, [fact(21, "acme/secret-plan", author=_crew(9))])
    private = await mint(store, subject=subject_of_installation(ACME), private=True)
    async with serve(store) as site:
        text = await site.text(f"/p/{private}")
    assert "secret-plan" not in text
    assert "acme/open" not in text, "the difference to the whole would tell of one person"


@ON_SQLITE
async def test_definitions_are_rendered_and_inert(store: Store, tmp_path: object) -> None:
    from pathlib import Path

    file = Path(str(tmp_path)) / "metrics.md"
    file.write_text(
        "# Metrics\n\n## Lines\n\n<script>alert(1)</script>\n\n| part | what |\n|---|---|\n| docs | text |\n\n"
        "[kinds](models/kind.md#top) and [code](../bot/model.py)\n"
    )
    file.with_name("models").mkdir()
    file.with_name("models").joinpath("kind.md").write_text("# Kinds\n\nBack to [metrics](../metrics.md).\n")
    async with serve(store, definitions=file) as site:
        text = await site.text("/definitions")
        assert "/definitions" in await site.text("/")
    assert "<h2>Lines</h2>" in text
    assert "<td>text</td>" in text
    assert "<script" not in text
    assert 'href="/definitions/models/kind"' in text
    assert "model.py" not in text
    html5lib.HTMLParser(strict=True).parse(text)
    async with serve(store, definitions=file) as site:
        assert 'href="/definitions/metrics"' in await site.text("/definitions/models/kind")
        assert (await site.get("/definitions/models/none"))[0] == 404
        assert (await site.get("/definitions/..%2f..%2fsecret"))[0] == 404
    async with serve(store) as site:
        assert (await site.get("/definitions"))[0] == 404


async def test_a_public_profile_leads_to_the_repositories_months_that_everybody_may_open(store: Store) -> None:
    await _staff(store)
    await publish(store)
    token = await mint(store)
    path = f"/organisations/acme{MONTH}"
    async with serve(store) as site:
        page = await site.text("/@ada-example")
        assert f"<a href={path}>All work of March 2026</a>" in page
        assert (await site.get(path))[0] == 200
        assert "/closed/" not in page
        assert "/organisations/" not in await site.text(f"/p/{token}")
        with store.transaction() as connection:
            visibility.publish(connection, subject_of_installation(ACME), public=False, now=NOW)
        assert "/organisations/" not in await site.text("/@ada-example")


async def test_a_profile_leads_to_no_month_whose_work_belongs_to_somebody_who_left(store: Store) -> None:
    await _staff(store, 0)
    await publish(store)
    shared = fact(71, "acme/open", pull_request=71)
    other = fact(72, "acme/open", author=_crew(1), pull_request=71)
    await keep(store, OPEN, [shared, other])
    with store.transaction() as connection:
        people.opt_out(connection, PersonKey("u:101"), NOW)
    async with serve(store) as site:
        page = await site.text("/@ada-example")
        for address in re.findall("<a href=(/organisations/[^>]*)>", page):
            assert (await site.get(address))[0] == 200


async def test_a_repositorys_month_leads_to_the_months_beside_it_and_to_an_organisation_that_has_a_page(
    store: Store,
) -> None:
    machine = Signature("tidy[bot]", "", UserId(55), "tidy[bot]", bot=True)
    await _staff(store, 3)
    # January 2026 has machine's work alone, and December that of somebody who leaves later.
    await keep(store, OPEN, [fact(-900, "acme/open", author=machine), fact(-1600, "acme/open", author=_crew(9))])
    await keep(store, OPEN, [fact(-2500, "acme/open")])
    base = "/organisations/acme/repositories/open"
    async with serve(store) as site:
        march = await site.text(f"{base}/2026-03")
        assert f'href="{base}/2026-02"' in march, "the month before has work by Ada"
        assert 'href="/organisations/acme"' not in march, "four people are too few for a page"
        assert (await site.get(f"{base}/2026-01"))[0] == 404
        february = await site.text(f"{base}/2026-02")
        assert f'href="{base}/2025-12"' in february, "a month without a page is passed over"
        assert f'href="{base}/2026-03"' in february
        await keep(store, OPEN, [fact(60, "acme/open", author=_crew(7))])
        with store.transaction() as connection:
            people.opt_out(connection, PersonKey("u:109"), NOW)
        february = await site.text(f"{base}/2026-02")
        assert f'href="{base}/2025-11"' in february, "nor one of somebody who left"
        assert 'href="/organisations/acme"' in february, "a fifth person"
        assert 'href="/organisations/acme"' in await site.text(f"{base}/2025-11")
        for link in re.findall(r"<nav class=way.*?</nav>", february, re.DOTALL)[0].split('href="')[1:]:
            assert (await site.get(link.partition('"')[0]))[0] == 200


async def test_a_crowd_has_a_page_whatever_its_commits_are(store: Store) -> None:
    await _staff(store, 25)
    async with serve(store) as site:
        assert 'href="/organisations/acme"' in await site.text(f"/organisations/acme{MONTH}")
        assert (await site.get("/organisations/acme"))[0] == 200


async def test_from_a_profile_to_its_repositorys_month_to_the_organisation_and_back(store: Store) -> None:
    await _staff(store)
    await publish(store)
    async with serve(store) as site:
        seen, path = [], "/@ada-example"
        for pattern in (
            r'"?(/organisations/acme/repositories/open/[0-9-]+)',
            r'"(/organisations/acme)"',
            r'"(/organisations/acme/rep[^"]+)',
        ):
            found = re.search(pattern, await site.text(path))
            assert found, (path, pattern)
            path = found[1]
            seen.append(path)
        assert seen == [f"/organisations/acme{MONTH}", "/organisations/acme", f"/organisations/acme{MONTH}"]
