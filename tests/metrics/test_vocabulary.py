"""Does the vocabulary of skills follow its own rules?"""

from __future__ import annotations

from bot.landing.lines import linguist
from bot.metrics.imports import SYNTAXES
from bot.metrics.manifests import manifests
from bot.metrics.skill_index import SEPARATORS, index, plain_name, skill_by_word, skills_by_path, skills_named
from scripts.refresh_tables import files, skills

_SHARED_WITH_A_LANGUAGE = {"NumPy"}
"""libraries that Linguist also lists as a language, though nobody writes in it"""


def test_there_are_four_hundred_skills_and_more_in_every_field() -> None:
    assert len(skills()) >= 400
    by_field: dict[str, int] = {}
    for skill in skills():
        by_field[skill.category] = by_field.get(skill.category, 0) + 1
    assert min(by_field.values()) >= 40


def test_the_generated_tables_match_the_files_that_people_edit() -> None:
    for file, text in files().items():
        assert file.read_text("utf-8") == text, f"{file.name} is stale: run python -m scripts.refresh_tables"


def test_no_skill_is_a_language() -> None:
    languages = {name.casefold() for name in linguist.tables().languages}
    assert {skill.name for skill in skills() if skill.name.casefold() in languages} == _SHARED_WITH_A_LANGUAGE


def test_no_skill_is_named_twice_in_different_spellings() -> None:
    owner: dict[str, str] = {}
    for skill in skills():
        for word in (skill.name, *skill.words):
            assert owner.setdefault(plain_name(word), skill.name) == skill.name, word


def test_every_skill_can_be_shown_by_something() -> None:
    bare = [skill.name for skill in skills() if not (skill.evidence or skill.paths or skill.tokens)]
    assert bare == []


def test_every_namespace_and_every_family_that_is_used_exists() -> None:
    used = {space for skill in skills() for space in skill.evidence}
    asked = {syntax.space for syntax in SYNTAXES} | {space for one in manifests() for space in one.spaces}
    assert used | asked <= set(SEPARATORS)
    assert used <= asked | {"r", "erlang", "docker"}
    assert set(index().tokens) <= {syntax.family for syntax in SYNTAXES}


def test_the_longest_known_beginning_of_a_name_decides() -> None:
    assert skills_named("python", "torch.distributed.fsdp") == ("PyTorch Distributed",)
    assert skills_named("python", "torch.nn") == ("PyTorch",)
    assert skills_named("python", "torchless") == ()
    assert skills_named("npm", "@angular/cdk/overlay") == ("Angular Material",)
    assert skills_named("npm", "@angular/core") == ("Angular",)
    assert skills_named("go", "k8s.io/client-go/rest") == ("Kubernetes",)
    assert skills_named("crates", "bevy_ecs::query") == ("Bevy",)


def test_packages_are_compared_as_their_registry_does() -> None:
    assert skills_named("pypi", "Flask_SQLAlchemy") == skills_named("pypi", "flask-sqlalchemy") == ("Flask",)
    assert skills_named("docker", "docker.io/library/postgres") == ("PostgreSQL",)


def test_conventions_of_names_and_folders_are_found_anywhere_in_the_tree() -> None:
    assert skills_by_path(".github/workflows/ci.yml") == ("GitHub Actions",)
    assert skills_by_path("sub/jest.config.ts") == ("Jest",)
    assert skills_by_path("modules/main.tf") == ("Terraform",)
    assert skills_by_path("docs/conf.py") == ("Sphinx",)
    assert skills_by_path("src/main.py") == ()


def test_a_topic_or_label_names_a_complete_skill_in_any_variant() -> None:
    assert skill_by_word("Postgres") == skill_by_word("postgresql") == "PostgreSQL"
    assert skill_by_word("vue-js") == skill_by_word("vue") == "Vue.js"
    assert skill_by_word("good first issue") is None
