import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from landing_facts import ADA, BEN

from bot.landing.identity.credit import People, co_authors, is_machine, noreply, person_key
from bot.landing.identity.machines import StatedMachines
from bot.landing.identity.mailmap import read_mailmaps
from bot.model.commit import Signature
from bot.model.ids import UserId


def test_a_noreply_address_proves_id_and_login_or_only_the_login():
    assert noreply("4711+BenCastle@users.noreply.github.com") == (4711, "bencastle")
    assert noreply("bencastle@users.noreply.github.com") == (None, "bencastle")
    assert noreply("4711+ben@example.org") is None
    assert noreply("x+ben@users.noreply.github.com") == (None, "x+ben")


def test_the_user_id_is_the_key_and_an_address_is_only_a_claim():
    assert person_key(BEN) == "u:4711"
    assert person_key(Signature("B", "b@example.org", user_id=UserId(4711))) == "u:4711"
    assert person_key(Signature("Ada", "ADA@Example.org ")) == person_key(ADA) == "e:ada@example.org"


def test_an_address_without_an_owner_does_not_join_two_people():
    assert person_key(Signature("Ada", "root@localhost")) != person_key(Signature("Ben", "root@localhost"))


@pytest.mark.parametrize(
    "sig",
    [
        Signature("GitHub", "noreply@github.com"),
        Signature("PyTorch MergeBot", "pytorchmergebot@users.noreply.github.com"),
        Signature("any", "49699333+dependabot[bot]@users.noreply.github.com"),
        Signature("bors", "bors@rust-lang.org"),
        Signature("generatedunixname89", "generatedunixname89@meta.example"),
        Signature("renovate[bot]", "someone@renovate.example"),
        Signature("x", "x@example.org", bot=True),
    ],
)
def test_machines_are_known_by_address(sig):
    assert is_machine(sig)
    assert co_authors(f"Fix\n\nCo-authored-by: {sig.name} <{sig.email}>", ADA) == () or sig.bot


def test_a_bot_like_name_is_no_proof_if_the_account_is_known():
    assert not is_machine(Signature("helper[bot]", "12+mallory@users.noreply.github.com"))
    assert not is_machine(Signature("helper[bot]", "m@example.org", user_id=UserId(12), login="mallory"))


def test_a_repository_names_its_own_machines_and_its_people():
    lander = Signature("Lander", "lander@example.org")
    person = Signature("Ana-Bot", "12+ana-bot@users.noreply.github.com")
    stated = StatedMachines(frozenset({"lander@example.org"}), frozenset({"ana-bot"}))
    assert not is_machine(lander)
    assert is_machine(stated.mark(lander))
    assert is_machine(person)
    assert not is_machine(stated.mark(person))
    assert not stated.mark(lander).bot  # the account stays as GitHub tells it


@pytest.mark.parametrize(
    ("name", "email", "agent"),
    [
        ("Claude", "noreply@anthropic.com", True),
        ("Copilot", "198982749+Copilot@users.noreply.github.com", True),
        ("Cursor", "cursoragent@cursor.com", True),
        ("Claude Moreau", "claude.moreau@example.org", False),
        ("Devin", "devin@example.org", False),
        ("Claude", "77+claude-m@users.noreply.github.com", False),
        ("Ada Brook (aider)", "ada@example.org", False),
    ],
)
def test_an_agent_is_distinguished_from_a_person_of_the_same_name(name, email, agent):
    assert is_machine(Signature(name, email)) is agent


def test_co_authors_are_credited_once_without_the_author_machines_and_agents():
    message = """Add a parser (#12)

* first

Co-authored-by: Ben Castle <4711+bencastle@users.noreply.github.com>

* second

co-authored-by: Ben C. <4711+bencastle@users.noreply.github.com>
Co-authored-by: Ada Brook <ada@home.example>
Co-authored-by: ADA <Ada@example.org>
Co-authored-by: Claude <noreply@anthropic.com>
Co-authored-by: dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>
Co-authored-by: Cleo Dann <cleo@example.org>
Co-authored-by: nobody
 Co-authored-by: Indented <in@example.org>
We thank Co-authored-by: Prose <prose@example.org>
"""
    assert [sig.name for sig in co_authors(message, ADA)] == ["Ben Castle", "Cleo Dann"]


def test_co_authors_are_at_most_a_hundred_and_hostile_lines_cost_nothing():
    lines = "\n".join(f"Co-authored-by: P{n} <p{n}@example.org>" for n in range(500))
    assert len(co_authors("Fix\n\n" + lines, ADA)) == 100
    assert co_authors("Fix\n\n" + "Co-authored-by:" + " " * 60_000 + "<", ADA) == ()


def test_a_subject_is_never_a_credit():
    assert co_authors("Co-authored-by: Ben Castle <ben@example.org>", ADA) == ()


def test_id_login_and_address_join_and_a_name_does_not():
    people = People.of(
        [
            BEN,
            Signature("B. Castle", "bencastle@users.noreply.github.com"),
            Signature("Ben", "ben@work.example", user_id=UserId(4711), login="BenCastle"),
            Signature("Ben", "BEN@work.example"),
            Signature("Ben Castle", "other@example.org"),
        ]
    )
    assert [person.key for person in people.all()] == ["e:other@example.org", "u:4711"]
    ben = people.person(BEN)
    assert ben.login == "BenCastle"
    assert ben.emails == (
        "4711+bencastle@users.noreply.github.com",
        "ben@work.example",
        "bencastle@users.noreply.github.com",
    )
    assert people.find("Ben Castle") == (people.person(Signature("", "other@example.org")), ben)


def test_a_login_that_two_accounts_had_does_not_join_them():
    people = People.of(
        [
            Signature("Old", "1+river@users.noreply.github.com"),
            Signature("New", "2+river@users.noreply.github.com"),
            Signature("Who", "river@users.noreply.github.com"),
        ]
    )
    assert len(people.all()) == 3


def test_people_are_found_by_full_login_address_or_name():
    decoy = Signature("Ada Brooks", "ada.brooks@example.org")
    people = People.of([ADA, BEN, decoy, Signature("tidy[bot]", "9+tidy[bot]@users.noreply.github.com")])
    ada = people.person(ADA)
    assert people.find("ada") == people.find("ADA@example.org") == people.find("Ada Brook") == (ada,)
    assert people.find("BenCastle") == (people.person(BEN),)
    assert people.find("Ada") == (ada,)
    assert people.find("Ada Broo") == people.find("example.org") == ()
    assert people.find("tidy[bot]")[0].bot


def test_a_proved_login_beats_the_part_before_the_at():
    namesake = Signature("Ben Stone", "bencastle@example.net")
    people = People.of([BEN, namesake])
    assert people.find("bencastle") == (people.person(BEN),)


def test_the_name_shown_is_the_one_used_most():
    people = People.of([Signature("ada", "ada@example.org"), ADA, ADA])
    assert people.find("ada")[0].name == "Ada Brook"
    assert people.find("ada")[0].names == ("Ada Brook", "ada")


SIGNATURES = st.builds(
    Signature,
    st.sampled_from(("Ada", "Ben", "Cleo")),
    st.sampled_from(
        (
            "a@x",
            "b@x",
            "1+ann@users.noreply.github.com",
            "ann@users.noreply.github.com",
            "2+ann@users.noreply.github.com",
        )
    ),
    st.sampled_from((None, UserId(1), UserId(2), UserId(3))),
    st.sampled_from((None, "ann", "Bo")),
)


@given(st.lists(SIGNATURES, max_size=12), st.randoms(use_true_random=False))
def test_people_do_not_depend_on_the_order_of_signatures(signatures: list[Signature], shuffler: random.Random) -> None:
    other = signatures[:]
    shuffler.shuffle(other)
    one, two = People.of(signatures), People.of(other)
    assert one.all() == two.all()
    for sig in signatures:
        assert one.person(sig) == two.person(sig)
        assert sig.user_id is None or one.person(sig).key == f"u:{sig.user_id}"


@pytest.mark.parametrize(
    "sig",
    [
        Signature("svc", "svcscm@fb.com"),
        Signature("A Bot 6", "facebook-github-bot-6-bot@fb.com"),
        Signature("Shared", "shentubot@google.com"),
        Signature("a", "ansibot@users.noreply.github.com"),
        Signature("a", "108291165+astrobot-houston@users.noreply.github.com"),
        Signature("semantic-release", "semantic-release"),
        Signature("Rocket", "bot@example.org"),
        Signature("Rocket", "ada+bot@example.org"),
        Signature("Rocket", "12+rocket-bot@users.noreply.github.com"),
        Signature("Rocket", "rocket-ci-robot@users.noreply.github.com"),
        Signature("Rocket bot", "rocket@example.org"),
        Signature("Rocket Release Bot", "rocket@example.org"),
        Signature("CI (bot)", "rocket@example.org"),
    ],
)
def test_service_accounts_of_public_histories_are_not_people(sig):
    assert is_machine(sig)


@pytest.mark.parametrize(
    "sig",
    [
        Signature("Ada Bot", "ada.bot@example.org"),
        Signature("Ben", "ben.robot@example.org"),
        Signature("b", "bbot@x.org"),
        Signature("Ben Castle", "robot@example.org"),
        Signature("Ada bot", "12+ada@users.noreply.github.com"),
        Signature("Jo van der Bot", "jo@example.org"),
    ],
)
def test_a_person_whose_name_is_bot_is_one(sig):
    assert not is_machine(sig)


def test_the_account_named_like_an_app_is_its_machine_user_and_a_mailmap_joins() -> None:
    app = Signature("acme-works[bot]", "9+acme-works[bot]@users.noreply.github.com")
    user = Signature("Acme Works", "10+acme-works@users.noreply.github.com")
    assert not is_machine(user)
    assert People.of([app, user]).person(user).bot
    assert not People.of([user]).person(user).bot
    mailmap = read_mailmaps(["Ada Brook <ada@example.org> <old@example.org>\n"])
    people = People.of([ADA, Signature("A.", "old@example.org")], mailmap)
    assert [(one.name, one.emails) for one in people.all()] == [("Ada Brook", ("ada@example.org", "old@example.org"))]
