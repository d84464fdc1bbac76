"""How is a whole record told in four sentences?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from bot.model.ids import ChangeId
from bot.model.profile import Sentence, Text
from bot.narrative.facts import ItemFacts, ProfileFacts
from bot.narrative.item_clauses import choose_clauses, evidence_of, parts_of, tally
from bot.narrative.joining import join_clauses
from bot.narrative.shared_subjects import shared_subjects
from bot.narrative.timeline import Evidence
from bot.narrative.words import fill_phrase, join_list, month_name, number, quantity, sentence_case

_SENTENCES = 4
_REPOSITORIES = 3
_LANGUAGES = 3
_SKILLS = 4
_EVIDENCE = 50
"""changes cited for a sentence about the whole record, those it names first"""
_THEME_EVIDENCE = 10
_TOOL_EVIDENCE = 7
"""so that each language and technology that a sentence names keeps evidence of its own"""


def profile_summary(facts: ProfileFacts, naming: Literal["named", "anonymous"]) -> Text:
    """Where, when and on what; what was built; what was repaired; in which languages and with which technologies."""
    work, fixes, others = (
        [item for item in facts.items if item.kind == kind] for kind in ("feature", "bug_fix", "other")
    )
    named = "features_named" if any(item.certain for item in work) else "changes_named"
    opening = _opening(facts, naming)
    found = [opening, _built(work, named) or _built(others, "changes_named"), _repaired(fixes)]
    if None in found[1:] or not facts.languages:
        found.append(_rest(others, found[1]))
    turned = _turned(facts) if None in found[1:] else None
    if turned and not facts.items:
        found = [_joined(opening, turned)]
    else:
        found.append(turned)
    told = [sentence for sentence in found if sentence is not None]
    tools = _tools(facts)
    return Text((*told[: _SENTENCES - 1], tools) if tools else tuple(told[:_SENTENCES]))


def _joined(opening: Sentence, turned: Sentence) -> Sentence:
    """Where nothing stands, that it was reverted belongs to what landed."""
    text = opening.text.removesuffix(".") + "; " + turned.text[:1].lower() + turned.text[1:]
    return Sentence(text, _some([*turned.evidence, *opening.evidence]))


def _span(facts: ProfileFacts) -> str:
    first, last = facts.first_month, facts.last_month
    if first == last:
        return fill_phrase("profile", "span_one", first=month_name(first))
    year = first[:4] == last[:4]
    return fill_phrase("profile", "span_year", first=month_name(first)[: -5 if year else None], last=month_name(last))


def _repositories(facts: ProfileFacts) -> str:
    names = facts.repository_names
    if len(names) <= _REPOSITORIES:
        return join_list(names)
    rest = len(names) - _REPOSITORIES + 1
    return fill_phrase(
        "profile", "other_repositories", repositories=", ".join(names[: _REPOSITORIES - 1]), count=number(rest)
    )


def _opening(facts: ProfileFacts, naming: Literal["named", "anonymous"]) -> Sentence:
    standing = [change for item in facts.items for change in item.changes]
    shared = shared_subjects(standing, facts.repository_names)
    own = facts.overall.commits
    text = fill_phrase(
        "profile",
        f"opening_{naming}" if own else f"helped_{naming}",
        person=facts.person,
        commits=quantity(own or facts.overall.co_authored, "commit"),
        repositories=_repositories(facts),
        span=_span(facts),
    )
    if shared:
        text += fill_phrase("profile", "theme", themes=join_list([theme.name for theme in shared]))
    ids = [name for theme in shared for name in theme.evidence[:_THEME_EVIDENCE]] + [*evidence_of(facts.items)]
    return Sentence(text + "." if own else sentence_case(text) + ".", _some(ids or facts.landed))


def _built(items: Sequence[ItemFacts], named: str) -> Sentence | None:
    telling = choose_clauses(items, sizes=False)
    if not telling.clauses:
        return None
    if all(clause.base for clause in telling.clauses):
        text = fill_phrase("profile", "features", clauses=join_clauses(telling.clauses, subject=True))
    else:
        text = fill_phrase("profile", named, parts=parts_of(telling))
    return Sentence(sentence_case(text), _some([*telling.proofs, *evidence_of(items)]))


def _repaired(items: Sequence[ItemFacts]) -> Sentence | None:
    if not items:
        return None
    telling = choose_clauses(items, sizes=False)
    objects = [clause.object for clause in telling.clauses if clause.base == "fix"]
    values = {"fixes": tally(items, "fix")}
    if not telling.clauses:
        text = fill_phrase("fixes", "only", **values)
    elif len(items) == 1 and objects:
        text = fill_phrase("profile", "fixes_all", objects=objects[0], **values)
    elif len(items) == 1 and telling.clauses[0].base:
        text = fill_phrase("fixes", "one_act", clauses=join_clauses(telling.clauses), **values)
    elif len(items) == 1:
        text = fill_phrase("fixes", "one_title", titles=telling.clauses[0].text, **values)
    elif len(objects) == len(telling.clauses):
        key = "fixes_all" if telling.complete else "fixes_objects"
        text = fill_phrase("profile", key, objects=join_list(objects), **values)
    else:
        text = fill_phrase(
            "profile", "fixes_acts_whole" if telling.complete else "fixes_acts", parts=parts_of(telling), **values
        )
    return Sentence(sentence_case(text), _some([*telling.proofs, *evidence_of(items)]))


def _rest(items: Sequence[ItemFacts], built: Sentence | None) -> Sentence | None:
    """What is neither feature nor bug fix, unless it has been told already."""
    told = set(built.evidence) if built else set()
    telling = choose_clauses([item for item in items if not told.intersection(item.evidence)], 2, sizes=False)
    if not telling.clauses:
        return None
    return Sentence(
        fill_phrase("profile", "others", parts=parts_of(telling)), _some([*telling.proofs, *evidence_of(items)])
    )


def _turned(facts: ProfileFacts) -> Sentence | None:
    """How many changes were reverted and stayed so, and how many came back."""
    courses = {
        "was_reverted": [turn for turn in facts.turns if turn.course == "reverted"],
        "was_relanded": [turn for turn in facts.turns if turn.course == "relanded"],
    }
    told = [
        fill_phrase("profile", key, changes=quantity(len(turns), "change")) for key, turns in courses.items() if turns
    ]
    ids = [name for turns in courses.values() for turn in turns for name in turn.evidence]
    return Sentence(sentence_case(join_list(told)) + ".", tuple(dict.fromkeys(ids))) if told else None


def _tools(facts: ProfileFacts) -> Sentence | None:
    languages = list(facts.languages)
    if not languages:
        return None
    text = fill_phrase(
        "profile",
        "languages",
        mostly=fill_phrase("profile", "mostly") if len(languages) > _LANGUAGES else "",
        languages=join_list(languages[:_LANGUAGES]),
    )
    skills = list(facts.skills)[:_SKILLS]
    if skills:
        text += fill_phrase("profile", "skills", skills=join_list(skills))
    return Sentence(text + ".", _some([*_ids(facts.languages, languages[:_LANGUAGES]), *_ids(facts.skills, skills)]))


def _ids(found: Mapping[str, Evidence], names: Sequence[str]) -> list[ChangeId]:
    return [change for name in names for change in found[name][:_TOOL_EVIDENCE]]


def _some(ids: Sequence[ChangeId]) -> Evidence:
    return tuple(dict.fromkeys(ids))[:_EVIDENCE]
