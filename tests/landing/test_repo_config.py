import json
import time
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from bot.configuration.errors import UnusableInputError
from bot.landing.lines.attributes import Attributes
from bot.landing.lines.split import read_files
from bot.landing.repo_config.keys import KEYS
from bot.landing.repo_config.options import Errors, RepoConfig, json_schema, lint, lint_file, merge, read_config
from bot.model.commit import FileChange

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "configuration.md").read_text("utf-8")
EXAMPLE = PAGE.partition("```yaml\n")[2].partition("```")[0]
SCHEMA = json.loads(json_schema())


def config(text: str) -> RepoConfig:
    found = read_config(text)
    assert isinstance(found, RepoConfig), found
    return found


def test_the_published_schema_is_the_one_of_the_table():
    assert (DOCS / "almanac.schema.json").read_text("utf-8") == json_schema()
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_key_is_on_the_page_with_its_meaning():
    for key in KEYS:
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{key.name}` |"))
        assert key.about.split(";")[0].rstrip(".") in row


def test_the_example_of_the_page_states_every_key_and_agrees_with_the_schema():
    assert config(EXAMPLE).stated == {key.name.replace(".", "_") for key in KEYS}
    jsonschema.validate(yaml.safe_load(EXAMPLE), SCHEMA)


def test_the_settings_reach_the_rules_of_files_and_landings():
    found = config(EXAMPLE)
    rules = found.rules(Attributes.parse("api/** linguist-generated=false\n"))
    paths = ("api/client/a.py", "src/vendor/ours/b.py", "site/c.py", "bench/d.py", "third_party/e.py", "f.py")
    parts = [read.part for read in read_files([FileChange(path, "modified", 1, 0) for path in paths], rules)]
    assert parts == ["generated", "authored", "docs", "tests", "vendored", "authored"]
    assert found.landing_settings().bots == ("acme-lander[bot]", "lander@example.org")
    assert found.kinds_labels == {"enhancement": "feature", "defect": "bug_fix"}


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "{}", "\ufeff# mark\n", "null"])
def test_an_empty_file_keeps_the_defaults(text):
    assert config(text) == RepoConfig()


@pytest.mark.parametrize("word", ["off", "no", "false", "Off", "NO"])
def test_a_bare_no_means_off_for_settings_that_allow_off(word):
    assert config(f"on_merge: {word}").on_merge == "off"
    assert read_config(f"first_digest: {word}") != RepoConfig()


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("digest: issue\non_mrge: off", 2, "'on_mrge' is no key; did you mean on_merge?"),
        ("generated: [a]", 1, "'generated' is no key; did you mean lines: generated?"),
        ("lines:\n  tets: [a]", 2, "'lines.tets' is no key; did you mean tests?"),
        ("lines:\n  timezone: UTC", 2, "'lines.timezone' is no key; did you mean timezone?"),
        ("colour: red", 1, "'colour' is no key; known here: digest"),
        ("digest: isue", 1, "digest: 'isue' is none of issue, discussion, off; did you mean issue?"),
        ("digest:", 1, "digest wants one of issue, discussion, off"),
        ("on_merge: [off]", 1, "on_merge wants one of"),
        ("timezone: Europe/Berln", 1, "did you mean Europe/Berlin?"),
        ("timezone: europe/berlin", 1, "did you mean Europe/Berlin?"),
        ("timezone: ../../etc/passwd", 1, "is not an IANA time zone"),
        ("timezone: localtime", 1, "is not an IANA time zone"),
        ("digest_repository: acme", 1, "write owner/name"),
        ("lines: []", 1, "lines needs lines of the form `key: value`, with authored, generated"),
        ("lines:\n  docs: a/**", 2, "lines.docs wants a list"),
        ("lines:\n  docs:\n  - a\n  - b/", 4, "'b/' matches no file; write 'b/**'"),
        ("lines:\n  docs: ['!a']", 2, "cannot be negated"),
        ("lines:\n  docs: ['a[']", 2, "can match nothing"),
        ("lines:\n  docs: [[a]]", 2, "lines.docs wants a pattern"),
        ("landing:\n  bots: [two words]", 2, "neither a login nor an email address"),
        ("landing:\n  trailers: ['Landed-PR:']", 2, "without the colon"),
        ("kinds:\n  labels:\n    bug: bugfix", 3, "did you mean bug_fix?"),
        ("kinds:\n  labels:\n    bug: revert", 3, "is none of"),
        ("kinds:\n  labels:\n    Bug: bug_fix\n    bug: docs", 4, "'bug' appears twice, first in line 3"),
        ("digest: off\ndigest: issue", 2, "appears twice, first in line 1"),
        ("a: &x b", 1, "anchors and aliases"),
        ("<<: {}", 1, "is no key"),
        ("digest: !!python/name:os.system issue", 1, "the tag"),
        ("digest: issue\n---\ndigest: off", 2, "second document"),
        ("digest: [issue", 2, "not valid YAML"),
        ("a:\n\t- b", 2, "not valid YAML"),
        ("- digest", 1, "the file needs lines of the form"),
        ("? [a]\n: b", 1, "a key must be a plain word"),
        ("digest: issue\ntimezone: 'a\n\n  b'", 2, "line breaks"),
        ('timezone: "\\ud800"', 1, ""),
        ("digest: \x00", 1, ""),
        ("#" * 70_000, 1, "larger than 64 KB"),
    ],
)
def test_errors_are_reported_with_their_line(text, line, said):
    found = lint(text)
    assert len(found) == 1
    assert found[0].startswith(f"line {line}: ")
    assert said in found[0]


def test_everything_wrong_is_reported_at_once_in_the_order_of_lines():
    text = "digets: off\non_merge: maybe\nlines:\n  docs: [b/, '!c']\n"
    assert [line.partition(":")[0] for line in lint(text)] == ["line 1", "line 2", "line 4", "line 4"]


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} [{(',*' + a) * 9}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "[" * 65_000,
        "{a: " * 16_000,
        "- " * 32_000,
        "? " * 32_000,
        "a:\n" + "- x\n" * 16_000,
        "lines: {docs: [" + "a*" * 30_000 + "]}",
        "lines:\n  docs:\n" + "".join(f"  - '{'*a' * 80}{n}'\n" for n in range(210)),
        "".join(f"k{n}: x\n" for n in range(4_900 // 2)),
        "digest: " + "i" * 60_000,
        "'" * 65_000,
        "%YAML " + "9" * 5_000 + ".1\n---\na",
        'digest: "\\UFFFFFFFF"',
        "!" * 65_000,
        "&a " * 20_000,
    ],
)
def test_hostile_files_are_refused_soon(text):
    began = time.process_time()
    found = read_config(text)
    assert isinstance(found, Errors)
    assert 1 <= len(found.problems) <= 50
    assert all(len(problem.message) < 400 and "\n" not in problem.message for problem in found.problems)
    assert time.process_time() - began < 2


WORDS = st.sampled_from(
    [
        "on_merge",
        "digest",
        "off",
        "issue",
        "lines",
        "docs",
        "kinds",
        "labels",
        "UTC",
        "timezone",
        "a/b",
        "feature",
        "*.py",
    ]
)
YAML_LIKE = st.lists(
    st.one_of(
        WORDS, st.sampled_from([": ", "\n", "  ", "- ", "[", "]", "{", "}", ",", "&a ", "*a", "'", '"', "!", "|", "? "])
    )
).map("".join)


@given(st.one_of(st.text(max_size=200), YAML_LIKE))
@example("\ud800")
def test_no_text_makes_the_reader_raise(text):
    found = read_config(text)
    assert isinstance(found, RepoConfig) or found.problems
    assert (lint(text) == []) == isinstance(found, RepoConfig)


VALUES = st.sampled_from(
    [
        "check",
        "off",
        False,
        True,
        3,
        None,
        "issue",
        "acme/team",
        "feature",
        ["a/**"],
        ["*.py", "b"],
        [],
        {},
        {"bug": "bug_fix"},
    ]
)
FILES = st.dictionaries(
    st.sampled_from(["on_merge", "digest", "digest_repository", "lines", "landing", "kinds", "colour"]),
    st.one_of(VALUES, st.dictionaries(st.sampled_from(["docs", "tests", "bots", "labels", "x"]), VALUES, max_size=3)),
    max_size=4,
)


@given(FILES)
def test_reader_and_schema_agree_on_the_form_of_a_file(written):
    schema_agrees = jsonschema.Draft202012Validator(SCHEMA).is_valid(written)
    text = yaml.safe_dump(json.loads(json.dumps(written)))  # a copy: equal values would be dumped as aliases
    assert isinstance(read_config(text), RepoConfig) == schema_agrees


def test_a_repository_wins_over_its_organisation_key_by_key():
    organisation = config(
        "timezone: Asia/Tokyo\ndigest: off\nlines: {docs: [a], tests: [t]}\nkinds: {labels: {x: docs, y: ci}}"
    )
    own = config("digest: issue\nlines: {docs: []}\nkinds: {labels: {y: test}}")
    both = merge(organisation, own)
    assert (both.timezone, both.digest, both.on_merge) == ("Asia/Tokyo", "issue", "check")
    assert (both.lines_docs, both.lines_tests) == ((), ("t",))
    assert both.kinds_labels == {"x": "docs", "y": "test"}
    assert merge(RepoConfig(), own) == own == merge(own, RepoConfig())


def test_a_file_on_disk_is_reported_by_name(tmp_path):
    good, bad, odd = tmp_path / "good.yml", tmp_path / "bad.yml", tmp_path / "odd.yml"
    good.write_text("digest: off\n")
    bad.write_text("digest: off\nx: 1\n")
    odd.write_bytes(b"digest: off\n# \xff\n")
    assert lint_file(good) == ""
    assert lint_file(bad).startswith(f"{bad}: line 2: 'x' is no key")
    assert lint_file(odd) == f"{odd}: line 2: the file is not UTF-8"
    with pytest.raises(UnusableInputError, match="name a configuration file"):
        lint_file(tmp_path / "none.yml")
