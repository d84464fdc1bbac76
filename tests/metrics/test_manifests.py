"""Which packages, images and actions do manifests of many ecosystems request?"""

from __future__ import annotations

import pytest

from bot.metrics.manifests import manifests_of, requested_names
from tests.metrics.skill_files import skills_shown

_ASKED = [
    ("package.json", '  "@nestjs/core": "^10.0.0",', "NestJS"),
    ("package.json", '  "vite": "workspace:*",', "Vite"),
    ("requirements-dev.txt", "Celery[redis]>=5 ; python_version > '3'", "Celery"),
    ("requirements/base.in", "fastapi", "FastAPI"),
    ("pyproject.toml", '    "sqlalchemy[asyncio]>=2.0",', "SQLAlchemy"),
    ("pyproject.toml", 'django = "^5.0"', "Django"),
    ("pyproject.toml", "[tool.ruff.lint]", "Ruff"),
    ("setup.py", "    install_requires=['pandas>=1.0'],", "pandas"),
    ("setup.cfg", "    httpx >= 0.20", "HTTPX"),
    ("environment.yml", "  - conda-forge::scipy=1.11", "SciPy"),
    ("Cargo.toml", 'tokio = { version = "1", features = ["full"] }', "Tokio"),
    ("Cargo.toml", "serde_json.workspace = true", "Serde"),
    ("go.mod", "\tgithub.com/spf13/cobra v1.8.0", "Cobra"),
    ("pom.xml", "      <groupId>org.springframework.kafka</groupId>", "Apache Kafka"),
    ("build.gradle", "    implementation 'io.netty:netty-all:4.1.0'", "Netty"),
    ("app/build.gradle.kts", '    testImplementation("io.mockk:mockk:1.13.0")', "MockK"),
    ("gradle/libs.versions.toml", 'coil = { module = "io.coil-kt:coil", version.ref = "coil" }', "Coil"),
    ("build.sbt", '  "org.typelevel" %% "cats-effect" % "3.5.0",', "Cats Effect"),
    ("Gemfile", "gem 'sidekiq', '~> 7'", "Sidekiq"),
    ("acme.gemspec", '  spec.add_development_dependency "rspec", "~> 3"', "RSpec"),
    ("composer.json", '    "phpunit/phpunit": "^10.0",', "PHPUnit"),
    ("src/App.csproj", '    <PackageReference Include="Dapper" Version="2.0" />', "Dapper"),
    ("pubspec.yaml", "  riverpod: ^2.0.0", "Riverpod"),
    ("mix.exs", '      {:oban, "~> 2.17"},', "Oban"),
    ("rebar.config", '{deps, [{cowboy, "2.9.0"}]}.', "Cowboy"),
    ("Package.swift", '    .package(url: "https://github.com/vapor/vapor.git", from: "4.0.0"),', "Vapor"),
    ("Podfile", "  pod 'Alamofire', '~> 5'", "Alamofire"),
    ("CMakeLists.txt", "find_package(Boost 1.70 REQUIRED COMPONENTS system)", "Boost"),
    ("CMakeLists.txt", "  pkg_check_modules(WL REQUIRED wayland-client)", "Wayland"),
    ("meson.build", "gst = dependency('gstreamer-1.0', version: '>=1.20')", "GStreamer"),
    ("conanfile.txt", "spdlog/1.12.0", "spdlog"),
    ("vcpkg.json", '    "rapidjson",', "RapidJSON"),
    ("acme.cabal", "    , QuickCheck >= 2.14", "QuickCheck"),
    ("DESCRIPTION", "    dplyr (>= 1.0.0),", "tidyverse"),
    ("Project.toml", 'Flux = "587475ba-b771-5e3f-ad9e-33799f191a9c"', "Flux.jl"),
    ("project.clj", '  [ring/ring-core "1.9.0"]', "Ring (Clojure)"),
    ("Dockerfile", "FROM --platform=linux/amd64 python:3.12-slim AS build", None),
    ("docker/app.Dockerfile", "COPY --from=nvidia/cuda:12.0 /a /b", "CUDA Toolkit"),
    ("compose.yaml", "    image: redis:7-alpine", "Redis"),
    ("main.tf", 'resource "aws_lambda_function" "x" {', "AWS Lambda"),
    ("versions.tf", '      source  = "hashicorp/google"', "Google Cloud"),
    (".github/workflows/ci.yml", "      - uses: astral-sh/setup-uv@v3", "uv"),
    ("charts/acme/Chart.yaml", "  - name: postgresql", "PostgreSQL"),
    (".pre-commit-config.yaml", "  - repo: https://github.com/psf/black", "Black"),
    ("MODULE.bazel", 'bazel_dep(name = "rules_go", version = "0.50.1")', "Bazel"),
]

_NOT_ASKED = [
    ("package.json", '    "vite": "vite build",', "Vite"),
    ("package.json", '  "name": "react",', "React"),
    ("go.mod", "\tgithub.com/spf13/cobra v1.8.0 // indirect", "Cobra"),
    ("pyproject.toml", 'keywords = ["flask"]', "Django"),
    ("src/requirements.py", "flask", "Flask"),
]


@pytest.mark.parametrize(("path", "line", "skill"), _ASKED)
def test_a_dependency_is_read(path: str, line: str, skill: str | None) -> None:
    found = skills_shown(path, line + "\n")
    assert skill in found or skill is None
    assert manifests_of(path)


@pytest.mark.parametrize(("path", "line", "skill"), _NOT_ASKED)
def test_other_lines_of_a_manifest_request_no_packages(path: str, line: str, skill: str) -> None:
    assert skill not in skills_shown(path, line + "\n")


def test_source_files_are_not_manifests() -> None:
    assert manifests_of("src/app.ts") == ()
    assert manifests_of("lib/docker.py") == ()


def test_a_name_is_found_where_the_pattern_says() -> None:
    (npm,) = manifests_of("package.json")
    assert list(requested_names(['  "react": "^18",', '  "scripts": {', ""], npm)) == ["react"]
