"""Which technologies does a commit show, and how do they become a contributor's skills?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.metrics.skill_index import index
from bot.metrics.skills import skills_of, technical_skills
from bot.model.ids import Month
from scripts.refresh_tables import skills
from tests.metrics.skill_files import a_change, a_fact, read, skills_shown

NOW = Month("2026-01")


def test_an_added_import_is_a_line_of_evidence() -> None:
    assert skills_shown("app/views.py", "import flask\nfrom flask.views import View\nx = 1\n") == {"Flask": 2}


def test_an_import_that_only_changed_its_names_does_not_count_as_added() -> None:
    assert skills_shown("app/views.py", "from flask import a, b\n", "from flask import a\n") == {}


def test_an_import_moved_between_files_is_no_new_evidence() -> None:
    files = read(a_change("app/a.py", removed="import torch\n"), a_change("app/b.py", "import torch\n"))
    assert skills_of(files) == {}


def test_a_removed_import_shows_nothing() -> None:
    assert skills_shown("app/views.py", "", "import flask\nimport torch\n") == {}


def test_packages_outside_the_standard_library_and_the_project_are_found() -> None:
    assert skills_shown(
        "src/x.py", "import os\nfrom . import y\nfrom .z import w\nimport numpy as np, pandas as pd\n"
    ) == {
        "NumPy": 1,
        "pandas": 1,
    }


def test_an_added_dependency_and_its_import_are_two_lines_of_evidence() -> None:
    files = read(
        a_change("package.json", '    "react": "^18.2.0",\n'),
        a_change("src/app.tsx", "import { useState } from 'react'\n"),
    )
    assert skills_of(files) == {"React": 2}


def test_a_version_bump_of_a_dependency_is_not_evidence() -> None:
    assert skills_shown("package.json", '    "react": "^19.0.0",\n', '    "react": "^18.2.0",\n') == {}


@pytest.mark.parametrize(
    "path",
    [
        "package-lock.json",
        "vendor/app/package.json",
        "node_modules/x/package.json",
        "tests/fixtures/app/package.json",
        "internal/testdata/package.json",
        "test/app/package.json",
    ],
)
def test_lock_files_vendored_files_and_test_inputs_request_no_packages(path: str) -> None:
    assert skills_shown(path, '    "react": "^18.2.0",\n') == {}


def test_tests_show_what_they_are_written_with() -> None:
    assert skills_shown("tests/test_x.py", "import pytest\nfrom hypothesis import given\n") == {
        "Hypothesis": 1,
        "pytest": 1,
    }


def test_source_code_in_a_string_of_a_test_is_not_the_tests_own() -> None:
    assert skills_shown("tests/rule.test.ts", "  import React from 'react'\n") == {}
    assert skills_shown("tests/test_x.py", "    import torch\n") == {}


def test_a_file_matched_by_a_naming_convention_counts_once() -> None:
    assert skills_shown(".github/workflows/ci.yml", "  a: 1\n  b: 2\n") == {"GitHub Actions": 1}
    assert skills_shown("deploy/Dockerfile", "RUN make\nRUN make install\n") == {"Docker": 1}


def test_a_removed_file_shows_nothing() -> None:
    assert skills_of(read(a_change("Dockerfile", removed="FROM scratch\n", status="removed"))) == {}


def test_a_call_is_evidence_where_no_import_is_needed() -> None:
    assert skills_shown("src/main.rs", "#[tokio::main]\nasync fn main() {}\n") == {"Tokio": 1}


def test_a_topic_or_a_label_counts_only_for_what_the_files_show_too() -> None:
    files = read(a_change("app/views.py", "import flask\n"))
    assert skills_of(files, ["flask", "django"], ["FLASK"]) == {"Flask": 3}


def test_requirements_pinned_by_a_program_request_no_packages() -> None:
    assert skills_shown("requirements.txt", "flask==3.0.0\n    # via acme\n") == {}
    assert skills_shown("requirements.txt", "flask==3.0.0\n") == {"Flask": 1}


def test_output_of_a_project_generator_is_no_evidence() -> None:
    assert skills_shown("ios/Runner/AppDelegate.swift", "import UIKit\n") == {}


def test_one_line_of_evidence_is_not_shown_and_two_are() -> None:
    commits = [a_fact({"Flask": 1, "Redis": 1}, sha="a" * 40), a_fact({"Redis": 1}, sha="b" * 40)]
    assert [skill.name for skill in technical_skills(commits, NOW)] == ["Redis"]


def test_a_skill_lists_its_changes_oldest_first() -> None:
    commits = [
        a_fact({"Flask": 1}, month="2025-07", sha="a" * 40),
        a_fact({"Flask": 1}, month="2025-02", sha="b" * 40),
        a_fact({"Redis": 2}, month="2025-03", sha="c" * 40),
    ]
    found = {skill.name: skill.evidence for skill in technical_skills(commits, NOW)}
    assert found["Flask"] == (commits[1][0], commits[0][0])
    assert found["Redis"] == (commits[2][0],)


def test_recent_work_weighs_more_than_the_same_work_long_ago() -> None:
    old, new = a_fact({"Flask": 4}, month="2019-01"), a_fact({"Redis": 4}, month="2025-12", sha="b" * 40)
    assert [skill.name for skill in technical_skills([old, new], NOW)] == ["Redis", "Flask"]


def test_eighteen_months_halve_the_weight_of_a_month() -> None:
    (fresh,) = technical_skills([a_fact({"Flask": 4}, month="2026-01")], NOW)
    (older,) = technical_skills([a_fact({"Flask": 4}, month="2024-07")], NOW)
    assert 2**fresh.weight - 1 == pytest.approx(2, abs=1e-3)
    assert 2**older.weight - 1 == pytest.approx(1, abs=1e-3)


def test_many_changes_weigh_more_than_one_of_many_lines() -> None:
    once = a_fact({"Flask": 40}, sha="f" * 40)
    often = [a_fact({"Redis": 2}, sha=f"{number:040x}") for number in range(20)]
    assert [skill.name for skill in technical_skills([once, *often], NOW)] == ["Redis", "Flask"]


def test_work_over_time_weighs_more_than_one_migration() -> None:
    migration = [a_fact({"PostgreSQL": 500}, sha=f"{number:040x}") for number in range(8)]
    steady = [a_fact({"Redis": 1}, month=f"2025-{month:02}", sha=f"{month:039x}f") for month in range(1, 7)]
    assert [skill.name for skill in technical_skills([*migration, *steady], NOW)] == ["Redis", "PostgreSQL"]


def test_continuous_integration_weighs_less_than_what_the_code_uses() -> None:
    (first, second) = technical_skills([a_fact({"GitHub Actions": 9, "Flask": 2})], NOW)
    assert (first.name, second.name) == ("Flask", "GitHub Actions")


def test_skills_of_nearly_every_project_weigh_half() -> None:
    found = {skill.name: skill.weight for skill in technical_skills([a_fact({"setuptools": 3, "Flask": 3})], NOW)}
    assert found["setuptools"] == pytest.approx(found["Flask"] / 2, abs=1e-3)


def test_code_of_the_project_that_makes_a_technology_is_evidence_of_it() -> None:
    commits = [a_fact({}, repository="pallets/flask", lines=9, sha=f"{number:040x}") for number in range(2)]
    assert [skill.name for skill in technical_skills(commits, NOW)] == ["Flask"]
    assert technical_skills([a_fact({}, repository="acme/flask", lines=9)] * 2, NOW) == ()


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("rabbitmq/amqp-client", {"RabbitMQ", "AMQP"}),
        ("kubernetes-sigs/kueue", {"Kubernetes"}),
        ("hashicorp/terraform-provider-aws", {"Terraform"}),
        ("hashicorp/boundary", set()),
        ("GNOME/gjs", {"SpiderMonkey", "GLib", "GObject Introspection"}),
    ],
)
def test_the_repositories_of_an_owner_can_be_home_to_a_technology(repository: str, expected: set[str]) -> None:
    commits = [a_fact({}, repository=repository, lines=9, sha=f"{number:040x}") for number in range(2)]
    assert {skill.name for skill in technical_skills(commits, NOW)} == expected
    assert technical_skills([a_fact({}, repository="pallets/flask")] * 2, NOW) == ()


_FACTS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(["Flask", "Redis", "pytest", "setuptools"]), st.integers(1, 40), max_size=3),
        st.sampled_from(["2017-03", "2024-12", "2025-01", "2025-11"]),
    ),
    max_size=12,
)


@given(_FACTS, st.randoms(use_true_random=False))
def test_the_order_of_commits_makes_no_difference(rows: list[tuple[dict[str, int], str]], random: object) -> None:
    commits = [a_fact(skills, month=month, sha=f"{at:040x}") for at, (skills, month) in enumerate(rows)]
    shuffled = list(commits)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # a random.Random
    assert technical_skills(commits, NOW) == technical_skills(shuffled, NOW)


@given(_FACTS, st.dictionaries(st.sampled_from(["Flask", "Redis"]), st.integers(1, 9), min_size=1))
def test_more_evidence_never_lowers_a_weight(rows: list[tuple[dict[str, int], str]], more: dict[str, int]) -> None:
    commits = [a_fact(skills, month=month, sha=f"{at:040x}") for at, (skills, month) in enumerate(rows)]
    before = {skill.name: skill.weight for skill in technical_skills(commits, NOW)}
    after = {skill.name: skill.weight for skill in technical_skills([*commits, a_fact(more, sha="f" * 40)], NOW)}
    assert all(after[name] >= weight for name, weight in before.items())


@given(
    st.text(max_size=300), st.sampled_from(["a.py", "b.ts", "go.mod", "Dockerfile", "x.R", "pom.xml", "build.gradle"])
)
def test_any_text_gives_known_skills_and_no_error(text: str, path: str) -> None:
    known = {skill.name for skill in skills()}
    found = skills_of(read(a_change(path, text)))
    assert set(found) <= known
    assert all(count > 0 for count in found.values())


def test_the_vocabulary_is_read_once() -> None:
    assert index() is index()


@pytest.mark.parametrize(
    ("path", "added", "skill"),
    [
        ("src/gauge.tsx", "  const [burn, setBurn] = useState(0)\n  useEffect(() => {})\n", "React"),
        ("src/broker.py", "URL = 'amqp://rocket'\nOTHER = 'pyamqp://rocket'\n", "RabbitMQ"),
        ("src/queue.erl", "    rabbit_queue:declare(Q),\n    amqqueue:get_name(Q),\n", "RabbitMQ"),
        ("engine/context.cpp", "JS::RootedObject object(cx);\nJSContext* cx = own;\n", "SpiderMonkey"),
        ("engine/context.cpp", "#include <js/RootingAPI.h>\n#include <js/Value.h>\n", "SpiderMonkey"),
        ("gi/repo.cpp", "#include <girepository/girepository.h>\nGIBaseInfo* info = own;\n", "GObject Introspection"),
        ("app/main.js", "const Gtk = imports.gi.Gtk;\nconst Gdk = imports.gi.Gdk;\n", "GObject Introspection"),
        ("stage/main.tf", 'resource "aws_instance" "stage" {\n}\n', "Terraform"),
        ("provider/stage.go", "func read(d *schema.ResourceData) {\n\treturn &schema.Resource{\n", "Terraform"),
        (".github/workflows/stage.yml", "  - run: terraform init\n  - run: terraform apply\n", "Terraform"),
        ("deploy/stage.yaml", "apiVersion: batch/v1\nkind: Namespace\n", "Kubernetes"),
        ("stage/pods.go", "\tvar pod corev1.Pod\n\topts := metav1.ListOptions{}\n", "Kubernetes"),
    ],
)
def test_technologies_that_were_missed_are_found(path: str, added: str, skill: str) -> None:
    assert skills_shown(path, added).get(skill, 0) >= 2


@pytest.mark.parametrize(
    ("path", "added"),
    [
        ("constraints.txt", "flask==3.0\nredis==5.0\n"),
        ("requirements/constraints-3.12.txt", "flask==3.0\nredis==5.0\n"),
        ("requirements.txt", "flask==3.0  # via acme\nredis==5.0\n"),
        ("requirements.txt", "".join(f"package-{number}==1.{number}\n" for number in range(30)) + "flask==3.0\n"),
        ("uv.lock", 'name = "flask"\n'),
    ],
)
def test_locks_and_constraints_prove_nothing(path: str, added: str) -> None:
    assert skills_shown(path, added) == {}
