"""Which part of the split does a path belong to, by its name and folders only?"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from bot.landing.lines import linguist

# Files that package managers write for repeatable builds; names are compared in lower case.
LOCK_FILES = frozenset(
    {
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-lock.yml", "bun.lock",
        "bun.lockb", "deno.lock", "poetry.lock", "pdm.lock", "uv.lock", "pixi.lock", "pipfile.lock", "pylock.toml",
        "conda-lock.yml", "requirements.lock", "requirements-dev.lock", "cargo.lock", "go.sum", "go.work.sum",
        "gopkg.lock", "glide.lock", "gemfile.lock", "gems.locked", "composer.lock", "podfile.lock", "cartfile.resolved",
        "package.resolved", "mix.lock", "rebar.lock", "pubspec.lock", "flake.lock", "module.bazel.lock",
        "cargo-bazel-lock.json", "maven_install.json", ".terraform.lock.hcl", "gradle.lockfile",
        "buildscript-gradle.lockfile", "packages.lock.json", "paket.lock", "project.assets.json", "chart.lock",
        "requirements.txt.lock", "conan.lock", "vcpkg-lock.json", "renv.lock", "packrat.lock", "shard.lock",
        "spago.lock", "stack.yaml.lock", "cabal.project.freeze", "esy.lock", "opam.locked", "buf.lock", "devbox.lock",
        "devenv.lock", "mise.lock", "aqua-checksums.json", "luarocks.lock", "dub.selections.json", "rockspec.lock",
        "berksfile.lock", "puppetfile.lock", "playbook.lock", "helmfile.lock", "elm-stuff.lock", "apm.lock",
        "verification-metadata.xml", "npm-shrinkwrap.lock", "lerna-lock.json", "shrinkwrap.yaml", "jsr.lock",
        "manifest.toml.lock", "moon.lock", "nimble.lock", "gleam.lock", "lake-manifest.json", "dependencies.lock",
    }
)  # fmt: skip
_LOCK_NAMES = re.compile(
    r"/(?:[\w.-]+\.)?(?:esy|mise|poetry|conda)[\w.-]*[.-]lock(?:\.ya?ml)?$|/(?:Julia)?Manifest(?:-v\d+\.\d+)?\.toml$"
    r"|/[\w.-]*requirements[\w.-]*\.lock$|/gradle/dependency-locks/|/\.pnp\.[^/]*$|/[\w-]+\.opam\.locked$"
)

_SNAPSHOTS = (
    r"(?:/__snapshots?__/|/__image_snapshots__/|\.(?:snap|snapshot|ambr|storyshot)(?:\.new)?$|\.snap\.[a-z]+$"
    r"|\.(?:approved|received|verified)\.[a-z0-9]+$|/cassettes?/[^\n]*\.(?:ya?ml|json)$)"
)
_BUILT = (
    r"(?:\.(?:pb|pb2|pb\.gw|g|freezed|gen|generated|gr)\.(?:go|cc|h|dart|ts|js|cs|py|swift|kt)$"
    r"|_pb2(?:_grpc)?\.pyi?$|\.pot$)"
)
_WRITTEN = re.compile(f"{_SNAPSHOTS}|{_BUILT}|/zz_generated\\.|/\\.openapi-generator/|/__pycache__/")

_CODE = r"(?:java|kt|kts|scala|groovy|cs|fs|vb|swift|php|m|mm|hx|cls|dart|cpp|cc|cxx)"
_TEST_FOLDERS = (
    r"/(?:tests?|__tests?__|test[-_]?(?:suite|case|data|file|fixture|resource|asset|util|helper|support|lib)s?|testing_?data"
    r"|fixtures?|__fixtures__|__mocks__|mocks|specs?|e2e|[\w]*[-_](?:tests?|specs?|e2e)|cypress|playwright"
    r"|(?:unit|integration|functional|acceptance|regression|system|smoke|end[-_]to[-_]end)[-_]?tests?"
    r"|[\w.]*\.(?:Unit|Integration|Functional|Acceptance)?Tests?|[A-Z]\w*Tests|src/\w*[tT]est\w*|androidTest|t|testthat)/"
)
_TEST_NAMES = (
    r"/(?:test_[^/]*\.\w+|conftest\.py|tests\.py|runtests\.\w+|spec_helper\.rb|rails_helper\.rb|test[-_]helper\.\w+|setupTests\.\w+)$"
    r"|[-_](?:test|tests|spec|specs|unittest|gtest|SUITE|testlib)\.\w+$|\.(?:test|tests|spec|specs|cy|e2e|e2e-spec|unit)\.\w+$"
    rf"|/(?:Test[A-Z]\w*|\w*(?:Test|Tests|TestCase|TestCases|Spec|Specs|ITCase|IT))\.{_CODE}$"
    r"|/(?:test|spec)\.\w+$|[a-z]Spec\.hs$|\.(?:feature|bats|robot|t)$|/test-[^/]*\.[rR]$"
)
_TESTS = re.compile(f"{_TEST_FOLDERS}|{_TEST_NAMES}")
_SPECIFICATION = re.compile(r"/specs?/", re.I)

# Linguist's vendored rules that we do not follow: they match a project's own tests, configuration or source.
NOT_VENDORED = frozenset(
    {
        r"(^|/)testdata/", r"(^|/)[Tt]ests?/fixtures/", r"(^|/)[Ss]pecs?/fixtures/", r"(^|/)\.github/",
        r"(^|/)\.gitattributes$", r"(^|/)\.gitignore$", r"(^|/)\.gitmodules$", r"(^|/)Jenkinsfile$",
        r"(^|/)Vagrantfile$", r"(^|/)\.vscode/", r"(^|/)\.teamcity/", r"(^|/)\.gitpod\.Dockerfile$",
        r"(^|/)\.sublime-project", r"(^|/)\.indent\.pro", r"(^|/)proguard\.pro$", r"(^|/)proguard-rules\.pro$",
        r"(^|/)cache/", r"(^|/)env/", r"(^|/)fabfile\.py$",
    }
)  # fmt: skip

_CONFIG_FOLDERS = (
    r"/\.(?:github|gitlab|gitlab-ci|circleci|buildkite|azure-pipelines|teamcity|vscode|devcontainer|husky|changeset|cargo"
    r"|config|yarn|mvn|settings|travis|semaphore|woodpecker|drone|moon|pre-commit-hooks|dependabot|zuul\.d|ci)/"
)
_CONFIG_NAMES = (
    r"/(?:Jenkinsfile[^/]*|Vagrantfile|Procfile|Tiltfile|Brewfile|[\w.-]*Dockerfile[\w.-]*|Containerfile|CODEOWNERS|OWNERS"
    r"|OWNERS_ALIASES|MANIFEST\.in|requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt|\.[\w-]*(?:rc|ignore|attributes|modules)"
    r"|\.env[\w.-]*|\.tool-versions|\.(?:python|node|ruby|java|go|terraform)-version|\.nvmrc|\.mailmap|\.editorconfig"
    r"|py\.typed|\.keep|\.gitkeep|[\w-]+\.code-workspace|proguard[\w-]*\.pro)$"
    r"|/(?:\.[\w-]+rc|[\w.-]+\.config|jest\.setup|karma\.conf|protractor\.conf|wdio\.conf|commitlint\.config)\.[cm]?[jt]s$"
    r"|/(?:go\.mod|go\.work|pyproject\.toml|setup\.cfg|tox\.ini|cargo\.toml|package\.json|tsconfig[\w.-]*\.json)$"
)
_CONFIG = re.compile(f"{_CONFIG_FOLDERS}|{_CONFIG_NAMES}", re.I)

# Of Linguist's type "data", but written by hand to define what a program does.
WRITTEN_LANGUAGES = frozenset(
    {
        "SQL", "GraphQL", "Protocol Buffer", "Prisma", "ABNF", "EBNF", "ASN.1", "Avro IDL", "Lark", "SPARQL", "Kusto",
        "RBS", "CIL", "Type Language", "WebAssembly Interface Type", "YANG", "SELinux Policy", "PlantUML",
        "Cloud Firestore Security Rules", "Gradle", "Gradle Kotlin DSL", "GN", "Soong", "Pure Data", "XPages",
        "Graphviz (DOT)", "OpenType Feature File",
    }
)  # fmt: skip
CONFIG_LANGUAGES = frozenset({"Dockerfile", "Earthly", "Just", "Procfile"})


@cache
def _vendored() -> linguist.PathRules:
    return linguist.PathRules(rule for rule in linguist.path_rules("vendored") if rule not in NOT_VENDORED)


_TEST_DATA = re.compile(
    r"/(?:\w+_SUITE_data|(?:__)?(?:test[-_]?)?(?:fixtures?|snapshots?|goldens?|cassettes|corpus|testdata)(?:__)?)/",
    re.I,
)


@lru_cache(maxsize=2048)
def is_source_of_language(path: str) -> bool:
    """Whether its lines show a language of the project: not by Linguist's rules somebody else's, not a fixture and not
    a snapshot."""
    return not linguist.is_vendored(path) and _TEST_DATA.search("/" + path) is None


def is_lock_file(path: str) -> bool:
    """Whether a package manager wrote it to pin versions."""
    return path[path.rfind("/") + 1 :].lower() in LOCK_FILES or _LOCK_NAMES.search("/" + path) is not None


def is_vendored(path: str) -> bool:
    """Whether Linguist's rules match, except those in NOT_VENDORED."""
    return _vendored().find(path)


def is_written_by_program(path: str) -> bool:
    """Whether it is generated by Linguist's rules, a snapshot recorded by a test, or output with a well-known name."""
    return linguist.is_generated(path) or _WRITTEN.search("/" + path) is not None


def is_test(path: str) -> bool:
    """Whether it is a test, or used only by tests, by the conventions of many ecosystems."""
    return _TESTS.search("/" + path) is not None


def is_config(path: str) -> bool:
    """Whether it configures a tool or continuous integration, by its name or folder."""
    return _CONFIG.search("/" + path) is not None


def hand_written_part(path: str, language: str | None) -> str:
    """docs, tests, config or authored, for a path that is the project's own work."""
    kind = linguist.language_type(language)
    if linguist.is_news_fragment(path):
        return "docs"
    if is_config(path):
        return "config"
    if linguist.is_documentation(path):
        return "docs"
    if is_test(path) and not (kind == "prose" and _SPECIFICATION.search("/" + path)):
        return "tests"
    if kind == "prose":
        return "config" if language == "Gettext Catalog" else "docs"
    if language in CONFIG_LANGUAGES or (kind == "data" and language not in WRITTEN_LANGUAGES):
        return "config"
    return "authored"
