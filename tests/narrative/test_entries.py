"""Is the best sentence of each change quoted, only if it is the person's own, with the right tag, link and release?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot.landing.identity.credit import person_key
from bot.model.change import Change, CountedCommit
from bot.model.commit import Signature
from bot.model.fact import ChangelogLine, Fact, Lines
from bot.model.ids import CommitId
from bot.narrative.cleaning import clean
from bot.narrative.entries import entries_of
from bot.narrative.entry import Entry
from bot.narrative.highlights import rank
from bot.narrative.project_texts import NO_TEXTS, ProjectTexts, project_texts
from bot.narrative.runs import join_runs
from bot.narrative.sentences import entry_notes
from tests.narrative.worlds import MIRA, UTC_ZONE, change

KEYS = {person_key(MIRA)}
BEN = Signature("Ben Castle", "ben@example.org")


def _with(one: Change, **fields: object) -> Change:
    """The change with these fields of its only fact."""
    (commit,) = one.commits
    return replace(one, commits=(replace(commit, fact=replace(commit.fact, **fields)),))


def _joined_by(one: Change, author: Signature, lines: int, title: str) -> Change:
    (commit,) = one.commits
    fact = replace(commit.fact, commit=CommitId("b" * 40), author=author, lines=Lines(authored=lines), title=title)
    return replace(one, commits=(commit, CountedCommit(fact, True, fact.lines)))


def _entry(one: Change, texts: ProjectTexts = NO_TEXTS) -> Entry | None:
    return entries_of([one], KEYS, texts, zone=UTC_ZONE).get(one.id)


def _release_with(text: str, *numbers: int, people: tuple[str, ...] = (), release: str = "") -> Fact:
    (commit,) = change("Release 2.0", number=99).commits
    line = ChangelogLine(text, numbers, "fixed", people, release)
    return replace(commit.fact, changelog=(line,), title="Release 2.0")


def _pull(title: str = "Keep the socket open", number: int = 7) -> Change:
    return _with(change(title, number=number), pull_request=number)


def test_a_fragment_of_the_change_comes_first() -> None:
    line = ChangelogLine("Kept sockets open -- by :user:`mira`.", (7,), "bugfix", ("mira",), "", "fragment")
    found = _entry(_with(_pull(), changelog=(line,)))
    assert found is not None
    assert (found.quoted, found.source, found.tag) == ("Kept sockets open", "changelog", "Fix")


def test_others_are_only_counted_where_they_may_not_be_named() -> None:
    one = _joined_by(_pull(), BEN, 900, "Close the socket")
    shown = [_entry(one, ProjectTexts(nameable=may)) for may in (None, {person_key(BEN)}, ())]
    assert [entry_notes(entry) for entry in shown if entry] == [
        ("with Ben Castle",),
        ("with Ben Castle",),
        ("with one other",),
    ]


def test_an_entry_that_credits_somebody_else_is_not_the_persons() -> None:
    line = ChangelogLine("Kept sockets open -- by :user:`ben`.", (7,), "bugfix", ("ben",), "", "fragment")
    found = _entry(_with(_pull(), changelog=(line,)))
    assert found is not None
    assert found.source == "title"


def test_a_line_of_the_release_is_quoted_if_it_names_this_change_alone() -> None:
    one = _pull()
    found = _entry(one, project_texts([_release_with("Sockets stay open (#7)", 7, release="2.0")]))
    assert found is not None
    assert (found.quoted, found.source, found.release) == ("Sockets stay open", "changelog", "2.0")
    both = project_texts([_release_with("Sockets stay open (#7, #8)", 7, 8)], pulls={("acme/engine", 8)})
    found = _entry(one, both)
    assert found is not None
    assert found.source == "title"


def test_a_line_about_something_else_under_the_same_number_is_not_quoted() -> None:
    found = _entry(_pull(), project_texts([_release_with("Parser reads tables (#7)", 7)]))
    assert found is not None
    assert found.source == "title"


def test_a_line_from_another_time_is_about_another_change_unless_both_are_in_one_release() -> None:
    one = _pull()
    (commit,) = one.commits
    late = replace(_release_with("Sockets stay open (#7)", 7, release="2.0"), landed_at=commit.fact.landed_at * 2)
    texts = project_texts([late])
    found = [_entry(one, replace(texts, releases=of)) for of in ({}, {commit.fact.commit: "2.0"})]
    assert [each.source for each in found if each] == ["title", "changelog"]


def test_the_subject_of_a_merge_without_a_pull_request_may_be_about_the_work_of_others() -> None:
    found = _entry(replace(_with(_pull(), merge_subject="Import the history of the kit"), pull_request=None))
    assert found is not None
    assert found.source != "merge"


def test_the_merges_own_subject_comes_before_the_title() -> None:
    found = _entry(_with(_pull(), merge_subject="initial plugin system, #7"))
    assert found is not None
    assert (found.quoted, found.source) == ("Initial plugin system", "merge")


def test_of_a_shared_pull_request_the_persons_own_subject_is_quoted_with_its_commit() -> None:
    one = replace(_joined_by(_pull(), BEN, 60, "Read twice"), url="https://github.com/acme/engine/pull/7")
    one = replace(
        one,
        commits=(
            replace(one.commits[0], fact=replace(one.commits[0].fact, subject="Hold sockets open")),
            one.commits[1],
        ),
    )
    found = _entry(one)
    assert found is not None
    assert (found.quoted, found.source, found.number, found.people) == (
        "Hold sockets open",
        "subject",
        None,
        ("Ben Castle",),
    )
    assert found.link == f"https://github.com/acme/engine/commit/{one.commits[0].fact.commit}"


def test_uncertain_work_bears_no_tag() -> None:
    found = _entry(change("Keep the socket open", "bug_fix", certain=False))
    assert found is not None
    assert found.tag is None


def test_a_text_that_contradicts_its_prefix_or_kind_bears_no_tag() -> None:
    titles = ("feat: fix the race of two readers", "provider: remove the old reader", "Add the reader of headers")
    found = [_entry(change(title, "feature")) for title in titles]
    assert [each.tag for each in found if each] == [None, None, "Feature"]


def test_the_kind_of_one_commit_is_no_tag_of_a_change_of_many() -> None:
    one = _pull("Rewrite of chat and onboarding")
    lines = Lines(authored=900)
    fact = replace(one.commits[0].fact, commit=CommitId("b" * 40), lines=lines, kind="refactor", subject="Chat anew")
    many = replace(one, commits=(*one.commits, CountedCommit(fact, True, fact.lines)), kind="bug_fix", certain=True)
    found = _entry(many)
    assert found is not None
    assert found.tag is None


def test_the_tag_says_that_it_is_known_only_where_a_tag_contains_the_commit() -> None:
    one = _pull()
    texts = replace(NO_TEXTS, releases={one.commits[0].fact.commit: "1.4.0"})
    found = _entry(one, texts)
    assert found is not None
    assert found.release == "1.4.0"
    found = _entry(one)
    assert found is not None
    assert found.release is None


def test_releases_and_reverts_have_no_entry() -> None:
    assert _entry(change("Release 2.0")) is None
    assert _entry(change('[2.x] Revert "Keep the socket open"')) is None


def test_a_run_of_one_doing_is_one_entry_with_its_objects() -> None:
    names = ["tanh", "sqrt", "rsqrt", "sin"]
    changes = [change(f"[MTIA ATen Backend] Migrate {name}", number=at) for at, name in enumerate(names, 1)]
    other = change("Keep the socket open", number=9)
    found = entries_of([*changes, other], KEYS, zone=UTC_ZONE)
    run, single = join_runs(list(found.values()))
    assert (run.quoted, run.count, run.objects) == ("[MTIA ATen Backend] Migrate …", 4, tuple(names))
    assert single.quoted == "Keep the socket open"


def test_a_common_verb_alone_makes_no_run() -> None:
    changes = [change(f"sync: add {name}", number=at) for at, name in enumerate(["a lock", "a gate", "a queue"], 1)]
    assert len(join_runs(list(entries_of(changes, KEYS, zone=UTC_ZONE).values()))) == 3


def test_verbs_that_differ_make_no_run() -> None:
    titles = ("Remove the deprecated code", "Remove previously deprecated code", "Ship the deprecated code")
    changes = [change(title, number=at) for at, title in enumerate(titles, 1)]
    assert len(join_runs(list(entries_of(changes, KEYS, zone=UTC_ZONE).values()))) == 3


def test_what_the_changelog_names_leads_and_reverted_work_never_does() -> None:
    large = change("Read headers with a new parser", number=1, lines=900)
    named = _with(_pull(number=2), changelog=(ChangelogLine("Sockets stay open", (2,), "", (), "", "fragment"),))
    gone = change("Count the bytes of a frame", number=3, lines=5000, state="reverted", reverted_by="acme/engine#4")
    changes = [large, named, gone]
    ranked = rank(entries_of(changes, KEYS, zone=UTC_ZONE), changes, KEYS)
    assert [entry.change for entry in ranked] == [named.id, large.id]


_TITLES = st.lists(st.from_regex(r"[A-Za-z]{3,9}", fullmatch=True), min_size=3, max_size=9).map(" ".join)
_LINES = st.tuples(_TITLES, st.sampled_from(["fragment", "new", "edited"]), st.booleans())


@given(st.lists(st.tuples(_TITLES, st.lists(_LINES, max_size=2), st.text(max_size=40), st.booleans()), max_size=8))
def test_every_entry_of_a_made_history_stands_in_what_it_cites(
    history: list[tuple[str, list[tuple[str, str, bool]], str, bool]],
) -> None:
    changes, sources = [], {}
    for number, (title, lines, merge, shared) in enumerate(history, 1):
        added = tuple(ChangelogLine(text, (number,) if own else (), "", (), "", form) for text, form, own in lines)  # type: ignore[arg-type]
        one = _with(_pull(f"fix(io): {title} (#{number})", number), changelog=added, merge_subject=merge)
        changes.append(_joined_by(one, BEN, 10, "Read twice") if shared else one)
        sources[one.id] = [one.title, merge, *(text for text, _, _ in lines)]
    for name, entry in entries_of(changes, KEYS, zone=UTC_ZONE).items():
        assert entry.quoted in {clean(text).text for text in sources[name]}
