"""Does a stored page know the changelog entries and headings that other landings hold, in visible repositories only?"""

from __future__ import annotations

from bot.landing.identity.credit import person_key
from bot.model.fact import ChangelogLine
from bot.narrative.project_texts import project_texts
from bot.store import ledger, records
from bot.store.engine import Store
from bot.store.evidence import evidence_about
from tests.store.conftest import APP, BEA, FOREIGN, NAMES, NOW, fact, seed


async def test_entries_and_headings_of_others_are_found_without_joining_their_changes(store: Store) -> None:
    await seed(store)
    own = fact(1, pull_request=12, keys=("pr:acme/app#12",), paths=("app/lamp/core.py",))
    beside = fact(2, pull_request=13, keys=("pr:acme/app#13",))
    lines = (ChangelogLine("Parts are lit (#12, #13)", (12, 13)), ChangelogLine("A roof (#99)", (99,)))
    release = fact(3, author=BEA, title="Release 2.0", changelog=lines, headings=("LAMP",))
    hidden = fact(4, FOREIGN, changelog=(ChangelogLine("Other (#12)", (12,)),))
    with store.transaction() as connection:
        ledger.append_facts(connection, APP, [own, beside, release], NOW)
        ledger.append_facts(connection, FOREIGN, [hidden], NOW)
    with store.snapshot() as connection:
        found, pulls = evidence_about(connection, [own], {APP: NAMES[APP]})
        page = records.facts_about(connection, [person_key(own.author)], [APP])
    texts = project_texts([ledger.fact_of(text) for text in found], pulls=pulls)
    assert [cited.line for cited in texts.lines["acme/app", 12]] == [lines[0]]
    assert texts.headings == {"acme/app": {"lamp": "LAMP"}}
    assert pulls == {("acme/app", 12), ("acme/app", 13)}
    assert {each.title for each in page.facts()} == {own.title, beside.title}
    assert page.project_texts(page.changes({})).lines == texts.lines
