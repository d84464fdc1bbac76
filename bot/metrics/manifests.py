"""Which packages, images and actions does a changed line of a manifest ask for? One row of a table for each manifest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_LONGEST = 300
"""characters of a line that are read"""
_PINNED = ("--hash=sha256:", "# via")
"""marks of a requirements file that a program wrote, with everything that was pulled in"""

_VERSION = r"(?:[~^<>=v\d*]|workspace:|catalog:|latest|next|npm:|git|file:|link:|\{)"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A way to ask for packages: which files, names of which namespaces, and where in a line the name stands.

    `spaces` are asked in order. Each group of `pattern` holds one name. `needles`: a line is read if one is in it.
    """

    name: str
    files: re.Pattern[str]
    spaces: tuple[str, ...]
    pattern: re.Pattern[str]
    needles: tuple[str, ...] = ()


def _manifest(name: str, files: str, spaces: str, pattern: str, *needles: str) -> Manifest:
    return Manifest(name, re.compile(files, re.I), tuple(spaces.split()), re.compile(pattern), needles)


_Q = r"[\"']"
# `files` is searched in "/" + path; `pattern` is matched at the first character of the line that is no blank.
MANIFESTS: tuple[Manifest, ...] = (
    _manifest("npm", r"/(?:package|bower|deno)\.jsonc?$", "npm", rf"\"(@?[\w./-]+)\": ?\"{_VERSION}", '":'),
    _manifest("pnpm catalog", r"/pnpm-workspace\.yaml$", "npm", r"['\"]?(@?[\w./-]+)['\"]?: ?['\"]?[~^<>=\d]", ":"),
    _manifest(
        "requirements", r"/(?:[^/]*requirements[^/]*|constraints[^/]*)\.(?:txt|in)$|/requirements/[^/]+\.(?:txt|in)$",
        "pypi", r"([A-Za-z][\w.-]*)(?:\[[\w, -]*\])? ?(?:[<>=!~;@#].*)?$",
    ),
    _manifest(
        "pyproject", r"/(?:pyproject|pdm|hatch|pixi|pipfile)(?:\.toml)?$", "pypi",
        r"(?:(?:requires|dependencies|[\w-]+) ?= ?\[ ?)?\"([A-Za-z][\w.-]*)(?:\[[\w, -]*\])? ?(?:[<>=!~;@][^\"]*)?\",?(?: ?\].*| ?#.*)?$"
        r"|([A-Za-z][\w.-]*) ?= ?(?:\"[~^<>=*\d]|\{ ?(?:version|git|path|extras)\b)",
    ),
    _manifest("pyproject tools", r"/pyproject\.toml$", "tool pypi", r"\[\[?tool\.([\w-]+)", "[tool."),
    _manifest("setup.py", r"/setup\.py$", "pypi", rf"(?:[^\n]*?[=\[(] ?)?{_Q}([A-Za-z][\w.-]*)(?:\[[\w, ]*\])? ?(?:[<>=!~;][^\"']*)?{_Q},? ?\]?,?\)?(?: ?#.*)?$"),
    _manifest("setup.cfg", r"/(?:setup\.cfg|tox\.ini)$", "pypi", r"(?:[\w-]+ ?= ?)?([A-Za-z][\w.-]*)(?:\[[\w, ]*\])? ?(?:[<>=!~;].*)?$"),
    _manifest("setup.cfg tools", r"/(?:setup\.cfg|tox\.ini)$", "tool pypi", r"\[(?:tool:)?([\w-]+)[^\]]*\]$", "["),
    _manifest("conda", r"/(?:[\w.-]*environment[\w.-]*|conda[\w.-]*|meta|recipe)\.ya?ml$|/(?:conda[\w.-]*|envs)/[\w./-]*\.ya?ml$", "pypi hackage", r"- ['\"]?(?:[\w-]+::)?([A-Za-z][\w.-]*)\b(?!:)", "- "),
    _manifest("Cargo", r"/cargo\.toml$", "crates", r"([A-Za-z][\w-]*)(?:\.workspace|\.version)? ?= ?(?:\"[~^<>=*\d]|\{|true)|\[(?:[^\]]*\.)?(?:dev-|build-)?dependencies\.([\w-]+)\]"),
    _manifest("go.mod", r"/go\.mod$", "go", r"(?:require |tool )?([a-z][\w.~-]*\.[\w.~-]+(?:/[\w.~-]+)*)(?: v\d[\w.+-]*)?$", "."),
    _manifest("Maven", r"/(?:pom\.xml|[\w.-]+\.pom)$", "maven java", r"<(?:groupId|artifactId)>([\w.-]+)</", "Id>"),
    _manifest("Gradle", r"\.gradle(?:\.kts)?$", "maven java", rf"[^\n]*?(?:{_Q}([\w-]+(?:\.[\w-]+)+)(?::[\w.-]+)*[^\"']*{_Q}|\b(?:id|kotlin|apply plugin:) ?\(? ?{_Q}([\w.-]+){_Q})", '"', "'"),
    _manifest("Gradle catalog", r"\.versions\.toml$", "maven java", r"[^\n]*?(?:module|group|id) ?= ?\"([\w.-]+)", '"'),
    _manifest("sbt", r"/(?:[^/]+\.sbt|project/[^/]+\.scala|build\.sc|build\.mill)$", "maven java", r"[^\n]*?\"([\w.-]+)\" ?%%?%?|[^\n]*?ivy\"([\w.-]+):", "%", "ivy"),
    _manifest("gems", r"/(?:gemfile[\w.-]*|[\w.-]+\.gemspec|gems\.rb)$", "gems", rf"(?:gem|\w+\.add_(?:\w+_)?dependency)[ (]+{_Q}([\w.-]+){_Q}", "gem", "dependency"),
    _manifest("Composer", r"/composer\.json$", "composer", rf"\"([a-z][\w.-]*/[\w.-]+)\": ?\"{_VERSION}", '":'),
    _manifest("NuGet", r"(?:proj|\.props|\.targets|\.nuspec|/packages\.config)$", "dotnet", r"<(?:PackageReference|PackageVersion|GlobalPackageReference|FrameworkReference|package|dependency) (?:Include|Update|id)=\"([\w.]+)", "<"),
    _manifest("NuGet SDK", r"proj$", "dotnet", r"<(?:Project )?Sdk[^\n]*?=\"([\w.]+)", "Sdk"),
    _manifest("Paket", r"/paket\.(?:dependencies|references)$", "dotnet", r"(?:nuget )?([A-Z][\w.]+)"),
    _manifest("pub", r"/pubspec\.ya?ml$", "pub", r"(?:sdk: )?(\w+)(?::(?: [\"']?[\^<>=\d].*| any)?)?$"),
    _manifest("mix", r"/mix\.exs$", "hex", r"\{:(\w+),", "{:"),
    _manifest("rebar", r"/rebar\.config$", "hex", r"(?:\{deps, ?\[)?\{(\w+), ?(?:\"|\{)", "{"),
    _manifest("gleam", r"/gleam\.toml$", "hex", r"(\w+) ?= ?\"[<>=~\d]", "="),
    _manifest("Swift", r"/package(?:@swift-[\d.]+)?\.swift$", "swift", r"[^\n]*?\.package\([^\n]*?url: ?\"[^\"]*?/([\w.-]+?)(?:\.git)?\"|[^\n]*?\.product\(name: ?\"(\w+)", ".p"),
    _manifest("CocoaPods", r"/podfile$|\.podspec$", "swift", r"(?:pod|\w+\.(?:\w+\.)?dependency) ?\(?['\"]([\w+]+)", "pod", "dependency"),
    _manifest("Carthage", r"/cartfile[\w.]*$", "swift", r"git(?:hub)? \"[^\"]*?/([\w.-]+?)(?:\.git)?\"", "git"),
    _manifest("CMake", r"/cmakelists\.txt$|\.cmake(?:\.in)?$", "cmake", r"[^\n#]*?(?:find_(?:package|dependency|library)|pkg_(?:check|search)_modules|FetchContent_Declare|CPMAddPackage)\((?:NAME )?\s*([A-Za-z]\w*)(?: (?:REQUIRED )?(?:QUIET )?(?:IMPORTED_TARGET )?([a-z][\w.+-]*))?", "("),
    _manifest("Meson", r"/meson\.build$", "cmake", r"[^\n#]*?dependency\('([\w.+-]+)'", "dependency("),
    _manifest("Autoconf", r"/configure\.(?:ac|in)$", "cmake", r"[^\n]*?PKG_CHECK_MODULES\(\[?\w+\]?, ?\[?([\w.+-]+)|AC_CHECK_LIB\(\[?(\w+)", "_"),
    _manifest("Conan", r"/conanfile\.(?:txt|py)$", "cmake", r"[^\n]*?[\"']?\b([a-z][\w+.-]*)/[\d\[]", "/"),
    _manifest("vcpkg", r"/vcpkg\.json$", "cmake", r"(?:\"name\": ?)?\"([a-z][\w+.-]*)\",?$", '"'),
    _manifest("Cabal", r"\.cabal$|/package\.yaml$", "hackage", r"(?:[,-] ?|build-depends: *)?([a-z][\w-]*) *(?:[,<>=^&].*)?$"),
    _manifest("R", r"/description$", "r", r"([A-Za-z][\w.]*)(?: ?\([^)]*\))?,?$"),
    _manifest("Julia", r"/project\.toml$", "julia", r"([A-Z]\w*) ?= ?\"", "="),
    _manifest("Clojure", r"/(?:deps\.edn|project\.clj|bb\.edn|shadow-cljs\.edn|build\.boot)$", "clojure", r"[^\n;]*?[\[{ (]?([a-z][\w.-]*/?[\w.-]*)\b (?:\"\d|\{:(?:mvn|git))"),
    _manifest("opam", r"\.opam$|/dune-project$", "ocaml", r"[\"(]([a-z][\w-]*)[\" )]"),
    _manifest("dune", r"/dune$", "ocaml", r"[^\n;]*?\(libraries ([\w.-]+)", "libraries"),
    _manifest("LuaRocks", r"\.rockspec$", "lua", r"[\"']([\w.-]+)", '"', "'"),
    _manifest("nimble", r"\.nimble$", "nim", r"requires [\"(]+\"?(\w+)", "requires"),
    _manifest("Dockerfile", r"/(?:[\w.-]*dockerfile[\w.-]*|[\w.-]*containerfile)$", "docker", r"(?:FROM|COPY --from=)(?: ?--platform=\S+)? ?([\w./-]+)", "FROM ", "--from="),
    _manifest("Compose", r"/(?:[\w.-]*compose[\w.-]*|[\w.-]*stack[\w.-]*)\.ya?ml$", "docker", r"(?:- )?image: ?[\"']?([\w./-]+)", "image:"),
    _manifest("images", r"/(?:\.github/workflows|\.circleci|k8s|kubernetes|manifests|deploy\w*|charts?)/.*\.ya?ml$|/\.gitlab-ci\.yml$|/azure-pipelines.*\.yml$", "docker", r"(?:- )?(?:image|repository): ?[\"']?([\w./-]+)", "image:", "repository:"),
    _manifest("Actions", r"/\.github/workflows/[^/]+\.ya?ml$|/action\.ya?ml$", "actions", r"(?:- )?uses: ?[\"']?([\w.-]+/[\w./-]+)", "uses:"),
    _manifest("Terraform", r"\.(?:tf|tf\.json|hcl|tofu)$", "terraform", r"(?:provider|resource|data) \"([a-z][\w-]*)\"|source ?= ?\"(?:registry\.terraform\.io/)?([a-z][\w./-]*)\"", '"'),
    _manifest("Helm", r"/(?:chart|requirements)\.ya?ml$", "helm", r"- name: ?[\"']?([\w-]+)|(?:- )?alias: ?([\w-]+)", "name:", "alias:"),
    _manifest("pre-commit", r"/\.pre-commit-config\.ya?ml$", "hooks", r"(?:- )?repo: ?[\"']?https?://[\w.-]+/([\w./-]+?)(?:\.git)?[\"']?$", "repo:"),
    _manifest("Bazel", r"/module\.bazel$", "starlark", r"bazel_dep\([^\n]*?name ?= ?\"(\w+)", "bazel_dep"),
    _manifest("Ansible", r"/(?:galaxy|requirements)\.ya?ml$", "terraform", r"(?:- )?(?:name|collection): ?[\"']?([a-z_]+\.[a-z_]+)", ":"),
    _manifest("Elm", r"/elm\.json$", "elm", r"\"([\w-]+/[\w-]+)\": ?\"\d", '":'),
)  # fmt: skip


@lru_cache(maxsize=65_536)
def manifests_of(path: str) -> tuple[Manifest, ...]:
    """How this file asks for packages; nothing for most."""
    rooted = "/" + path
    return tuple(manifest for manifest in MANIFESTS if manifest.files.search(rooted))


def asked_for(lines: Sequence[str], manifest: Manifest) -> Iterator[str]:
    """The names that these lines ask for."""
    needles = manifest.needles
    for line in lines:
        if needles and not any([needle in line for needle in needles]):
            continue
        if line.endswith("// indirect"):
            continue
        found = manifest.pattern.match(line.strip()[:_LONGEST])
        if found is not None:
            for group in found.groups():
                if group:
                    yield group


def is_pinned(text: str) -> bool:
    """Whether a program wrote these requirements, with everything that was pulled in."""
    return any(mark in text for mark in _PINNED)
