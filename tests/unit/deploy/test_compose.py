"""compose.yaml keeps the published schema, and gives no container more than it needs."""

import json
from importlib.resources import files as package_files

import pytest
from jsonschema import Draft7Validator

from tests.unit.deploy.files import DEPLOY, ROOT, text, yaml_of

COMPOSE = yaml_of("compose.yaml")
SERVICES = COMPOSE["services"]


def test_it_keeps_the_compose_specification():
    schema = package_files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    validator = Draft7Validator(json.loads(schema.read_text(encoding="utf-8")))
    assert [error.message for error in validator.iter_errors(COMPOSE)] == []


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_is_hardened(name):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"mem_limit", "pids_limit"} <= service.keys()
    assert not {"privileged", "cap_add", "network_mode", "pid", "ipc", "devices"} & service.keys()


@pytest.mark.parametrize("name", SERVICES)
def test_no_container_runs_as_root(name):
    service = SERVICES[name]
    number = service.get("user", "10001").partition(":")[0]
    assert number.isdigit()
    assert int(number) > 0
    assert "user" in service or service["image"] == "thresher"


def test_only_grafana_and_the_dashboard_are_published_and_only_on_loopback():
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"grafana": ["127.0.0.1:3000:3000"], "ui": ["127.0.0.1:8765:8765"]}


def test_the_store_is_reached_from_the_inside_only():
    assert SERVICES["store"]["networks"] == ["store"]
    assert COMPOSE["networks"]["store"] == {"internal": True}
    assert {name for name, service in SERVICES.items() if "store" in service["networks"]} == {
        "store",
        "seed",
        "worker",
        "ui",
        "backup",
    }


def test_only_workers_reach_the_web():
    outside = {name for name, network in COMPOSE["networks"].items() if not network.get("internal")}
    assert outside == {"outside", "front"}
    assert [name for name, service in SERVICES.items() if "outside" in service["networks"]] == ["worker"]


@pytest.mark.parametrize("name", ["store", "seed", "worker"])
def test_a_drain_has_time_to_end(name):
    assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) >= 45


def test_no_password_is_written_down_and_none_may_be_empty():
    lines = [line for line in text("compose.yaml").splitlines() if "${" in line and "PASSWORD" in line]
    assert lines
    assert all(":?write it into .env}" in line for line in lines)
    values = [line.partition("=")[2] for line in text(".env.example").splitlines() if "PASSWORD=" in line]
    assert values == ["", ""]


def test_what_is_mounted_is_there():
    mounts = [mount.split(":")[0] for service in SERVICES.values() for mount in service.get("volumes", ())]
    here = [mount for mount in mounts if mount.startswith("./")]
    assert len(here) == 5
    assert all((DEPLOY / mount).exists() for mount in here)
    named = {mount for mount in mounts if mount[0] not in "./$"}
    assert named == COMPOSE["volumes"].keys()


def test_the_image_is_built_from_the_whole_repository():
    build = SERVICES["worker"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


@pytest.mark.parametrize("name", SERVICES)
def test_logs_are_bounded_in_a_form_that_docker_and_podman_know(name):
    assert SERVICES[name]["logging"] == {"driver": "json-file", "options": {"max-size": "10m", "max-file": "5"}}


def test_the_dashboard_copies_pages_to_a_disk_and_not_to_memory():
    service = SERVICES["ui"]
    assert f"cache:{service['environment']['TMPDIR']}" in service["volumes"]
    assert "rm -rf /cache/*" in service["command"][0]


def test_what_ends_with_its_crawl_is_not_started_for_ever_and_all_else_is():
    policies = {name: service["restart"] for name, service in SERVICES.items()}
    assert {name for name, policy in policies.items() if policy.startswith("on-failure")} == {"seed", "worker"}
    assert {policy for name, policy in policies.items() if name not in ("seed", "worker")} == {"unless-stopped"}
