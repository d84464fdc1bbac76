"""Do the files for platforms hang together: commands, ports, probes, secrets, rights, and every line of the image?"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from bot.configuration.environment import Environment
from bot.web.pages import ROUTES
from tests.test_repository import ROOT, settings

from .test_ways_to_run import CONTAINER, DEPLOY, PROJECT, commands

FLY: dict[str, Any] = tomllib.loads((DEPLOY / "fly.toml").read_text())
RENDER: dict[str, Any] = yaml.safe_load((DEPLOY / "render.yaml").read_text())
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
WORKLOADS = [one for one in MANIFESTS if one["kind"] in {"Job", "Deployment"}]
PORTS = {"serve": Environment.model_fields["port"].default, "worker": Environment.model_fields["worker_port"].default}
PROBES = {"/readyz", "/healthz"}
GRACE = 60


def test_every_platform_starts_existing_commands() -> None:
    lines = [FLY["deploy"]["release_command"], *FLY["processes"].values()]
    for service in RENDER["services"]:
        lines += [service[key] for key in ("preDeployCommand", "startCommand") if key in service]
    lines += [" ".join(container["args"]) for container in _containers()]
    words = [line.removeprefix("almanac ").split() for line in lines]
    assert {first for first, *_ in words} == {"migrate", "serve", "worker"} <= commands()
    assert {word for _, *rest in words for word in rest} == {"--no-work"}


def _containers() -> Iterator[dict[str, Any]]:
    for one in WORKLOADS:
        yield from one["spec"]["template"]["spec"]["containers"]


def test_probes_ask_addresses_that_are_served_on_the_right_port() -> None:
    assert {"/readyz", *(path for path, _ in ROUTES)} >= PROBES
    checks = [*FLY["http_service"]["checks"], *FLY["checks"].values()]
    assert {check["path"] for check in checks} | {RENDER["services"][0]["healthCheckPath"]} <= PROBES
    assert FLY["http_service"]["internal_port"] == PORTS["serve"]
    assert FLY["checks"]["worker"]["port"] == PORTS["worker"]
    for container in _containers():
        if container["args"] == ["migrate"]:
            continue
        (port,) = container["ports"]
        assert port["containerPort"] == PORTS[container["args"][0]]
        probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")]
        assert {probe["port"] for probe in probes} == {port["name"]}
        assert [probe["path"] for probe in probes] == ["/healthz", "/healthz", "/readyz"]


def test_stopping_is_by_sigterm_and_leaves_a_minute() -> None:
    assert (FLY["kill_signal"], FLY["kill_timeout"]) == ("SIGTERM", f"{GRACE}s")
    assert {service["maxShutdownDelaySeconds"] for service in RENDER["services"]} == {GRACE}
    for one in WORKLOADS:
        if one["kind"] == "Deployment":
            assert one["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == GRACE


def test_pods_have_no_rights_and_write_only_to_their_own_folders() -> None:
    for one in WORKLOADS:
        pod = one["spec"]["template"]["spec"]
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            rights = {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["securityContext"] == rights
            assert container["envFrom"] == [{"secretRef": {"name": "almanac"}}]
            mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
            assert mounted == {"data": "/data", "tmp": "/tmp"}
            assert container["image"] == f"almanac:{PROJECT['project']['version']}"
            assert container["resources"]["limits"]["memory"]


def test_selectors_of_the_manifests_find_their_pods() -> None:
    labels = {one["metadata"]["name"]: one["spec"]["template"]["metadata"]["labels"] for one in WORKLOADS}
    by_kind = {one["kind"]: one for one in MANIFESTS if one["kind"] != "Deployment"}
    for one in WORKLOADS:
        if one["kind"] == "Deployment":
            assert one["spec"]["selector"]["matchLabels"] == labels[one["metadata"]["name"]]
    assert by_kind["Service"]["spec"]["selector"] == labels["almanac-web"]
    assert by_kind["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels["almanac-web"]
    (rule,) = by_kind["Ingress"]["spec"]["rules"]
    service = rule["http"]["paths"][0]["backend"]["service"]
    assert service == {"name": by_kind["Service"]["metadata"]["name"], "port": {"name": "http"}}
    assert by_kind["Ingress"]["spec"]["tls"][0]["hosts"] == [rule["host"]]


def test_the_files_that_platforms_name_exist() -> None:
    for key in ("dockerfile", "ignorefile"):
        assert (DEPLOY / FLY["build"][key]).exists()
    for service in RENDER["services"]:
        (lock,) = re.findall(r"-r (\S+)", service["buildCommand"])
        assert (ROOT / lock).exists()
        assert "--require-hashes" in service["buildCommand"]


def test_render_gives_both_services_the_database_and_existing_settings() -> None:
    web, worker = RENDER["services"]
    assert web["envVars"] == worker["envVars"]
    named = [one["key"] for one in web["envVars"] if "key" in one]
    named += [one["key"] for group in RENDER["envVarGroups"] for one in group["envVars"]]
    assert set(named) <= set(settings())
    (database,) = RENDER["databases"]
    assert [one["fromDatabase"]["name"] for one in web["envVars"] if "fromDatabase" in one] == [database["name"]]


# --- the image, line by line -----------------------------------------------------------------------------------------

LINES = (
    r"ARG PYTHON=3\.\d+",
    r"FROM python:\$\{PYTHON\}-slim AS build",
    r"WORKDIR /checkout",
    r"COPY requirements\.lock \.",
    (
        r"RUN pip download --no-cache-dir --no-deps --only-binary :all: --require-hashes "
        r"--requirement requirements\.lock --dest /verified"
    ),
    r"COPY \. \.",
    (
        r"RUN python -m venv --without-pip /almanac && pip --python /almanac/bin/python install --no-cache-dir "
        r'--no-index --find-links /verified "\.\[postgres\]"'
    ),
    r"FROM python:\$\{PYTHON\}-slim",
    (
        r"RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/\* && "
        r"install --directory --owner 10001 --group 10001 --mode 0700 /data"
    ),
    r"COPY --from=build /almanac /almanac",
    r"ENV PATH=/almanac/bin:\$PATH PYTHONDONTWRITEBYTECODE=1 HOME=/tmp ALMANAC_DATA=/data ALMANAC_HOST=0\.0\.0\.0",
    r"USER 10001:10001",
    r"WORKDIR /data",
    r"VOLUME /data",
    r"EXPOSE 8080",
    r"STOPSIGNAL SIGTERM",
    r"HEALTHCHECK --start-period=\d+s --interval=\d+s --timeout=5s CMD python -c .*/healthz\"",
    r'ENTRYPOINT \["almanac"\]',
    r'CMD \["serve"\]',
)


def _steps() -> list[str]:
    """The steps of the container file, each in one line, without comments."""
    text = "\n".join(line for line in CONTAINER.read_text().splitlines() if line and not line.startswith("#"))
    return [re.sub(r"\s+", " ", step) for step in re.sub(r"\\\n", " ", text).splitlines()]


@pytest.mark.parametrize("number", range(len(LINES)))
def test_each_step_of_the_image_is_as_it_was_when_it_was_built(number: int) -> None:
    assert re.fullmatch(LINES[number], _steps()[number])


def test_the_image_has_no_other_step_and_nothing_for_one_processor() -> None:
    assert len(_steps()) == len(LINES)
    assert not re.search(r"amd64|x86_64|arm64|aarch64", "\n".join(_steps()))
