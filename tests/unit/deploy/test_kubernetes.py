"""The manifests keep Kubernetes' own schemas, the restricted profile, and the walls that they promise."""

import ipaddress
import random
from functools import cache

import kubernetes_validate
import pytest

import thresher
from tests.unit.deploy.files import DEPLOY, ROOT, manifests, yaml_of
from thresher.capacity.constants import load_constants
from thresher.config.loading import load_config
from thresher.urls.address_policy import refusal

KUSTOMIZATION = yaml_of("kustomization.yaml")
MANIFESTS = manifests()
VERSIONS = ("1.29", "1.33", kubernetes_validate.latest_version())
PODS = [entry for entry in MANIFESTS if entry["kind"] in ("StatefulSet", "Deployment", "Job", "CronJob")]


def called(entry):
    return f"{entry['kind']}-{entry['metadata']['name']}"


def named(kind, name):
    [found] = [entry for entry in MANIFESTS if (entry["kind"], entry["metadata"]["name"]) == (kind, name)]
    return found


def spec_of(entry):
    spec = entry["spec"]["jobTemplate"]["spec"] if entry["kind"] == "CronJob" else entry["spec"]
    return spec["template"]["spec"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("entry", MANIFESTS, ids=called)
def test_it_keeps_the_schema_with_no_key_too_many(entry, version):
    kubernetes_validate.validate(entry, version, strict=True)


@pytest.mark.parametrize("entry", PODS, ids=called)
def test_every_pod_keeps_the_restricted_profile(entry):
    pod = spec_of(entry)
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    assert not [volume for volume in pod["volumes"] if "hostPath" in volume]


@pytest.mark.parametrize("entry", PODS, ids=called)
def test_every_container_has_its_share_of_the_machine_and_time_to_end(entry):
    for container in spec_of(entry)["containers"]:
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert "memory" in container["resources"]["limits"]
    assert spec_of(entry)["terminationGracePeriodSeconds"] >= 45


def test_a_worker_gets_the_memory_that_one_was_measured_to_take_and_half_as_much_again():
    needed = 1.5 * load_constants().worker_ram_bytes
    [worker] = spec_of(named("Job", "worker"))["containers"]
    [scaled] = yaml_of("kubernetes/autoscale.yaml")["spec"]["jobTargetRef"]["template"]["spec"]["containers"]
    for container in (worker, scaled):
        assert int(container["resources"]["limits"]["memory"].removesuffix("Gi")) << 30 >= needed
    assert int(yaml_of("compose.yaml")["services"]["worker"]["mem_limit"].removesuffix("g")) << 30 >= needed


def test_a_worker_without_its_store_is_not_ready_but_alive():
    [worker] = spec_of(named("Job", "worker"))["containers"]
    assert worker["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert worker["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert {"containerPort": 9464, "name": "metrics"} in worker["ports"]


def test_the_queue_and_the_folder_of_the_crawl_outlive_their_pods():
    [claim] = named("StatefulSet", "store")["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "data"
    assert {"persistentVolumeClaim": {"claimName": "seed"}, "name": "data"} in spec_of(named("Job", "seed"))["volumes"]
    assert named("PersistentVolumeClaim", "seed")


def test_workers_end_with_the_crawl_and_are_not_started_again():
    job = named("Job", "worker")["spec"]
    assert job["completions"] == job["parallelism"]
    assert job["template"]["spec"]["restartPolicy"] == "Never"


def test_parts_that_read_pages_get_the_keys_of_the_collection():
    for kind, name in (("Job", "seed"), ("Job", "worker"), ("Deployment", "ui")):
        [container] = spec_of(named(kind, name))["containers"]
        assert {"secretRef": {"name": "collection", "optional": True}} in container["envFrom"]


def test_workers_that_are_scaled_are_those_of_the_job_and_their_metric_exists():
    scaled = yaml_of("kubernetes/autoscale.yaml")["spec"]
    assert scaled["jobTargetRef"]["template"] == named("Job", "worker")["spec"]["template"]
    [trigger] = scaled["triggers"]
    metric = trigger["metadata"]["query"].partition("(")[2].partition("{")[0]
    assert f"`{metric}`" in (ROOT / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")


def test_no_image_is_named_latest():
    images = [container["image"] for entry in PODS for container in spec_of(entry)["containers"]]
    assert all(image == "thresher" or ":" in image for image in images)
    [own] = KUSTOMIZATION["images"]
    assert own["newTag"] == thresher.__version__


def test_what_is_named_is_there():
    maps = {entry["name"] for entry in KUSTOMIZATION["configMapGenerator"]}
    pods = [spec_of(entry) for entry in PODS]
    mounted = {volume["configMap"]["name"] for pod in pods for volume in pod["volumes"] if "configMap" in volume}
    containers = [container for pod in pods for container in pod["containers"]]
    sources = [source for container in containers for source in container.get("envFrom", ())]
    read = {source["configMapRef"]["name"] for source in sources if "configMapRef" in source}
    assert mounted | read == maps
    files = [name for entry in KUSTOMIZATION["configMapGenerator"] for name in entry.get("files", ())]
    assert all((DEPLOY / name).is_file() for name in files)


def test_the_crawl_that_workers_join_is_the_one_that_is_seeded():
    [literal] = [entry["literals"] for entry in KUSTOMIZATION["configMapGenerator"] if "literals" in entry]
    assert literal[0] == f"CRAWL={load_config(DEPLOY / 'crawl' / 'topic.yaml').name}"


def test_nobody_speaks_to_anybody_who_is_not_listed():
    wall = named("NetworkPolicy", "nobody")["spec"]
    assert wall == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@cache
def blocks():
    """Return the networks that workers may reach, each with the holes in it."""
    rules = named("NetworkPolicy", "worker")["spec"]["egress"]
    found = [to["ipBlock"] for rule in rules for to in rule["to"]]
    return [(ipaddress.ip_network(one["cidr"]), list(map(ipaddress.ip_network, one["except"]))) for one in found]


def lets_through(address):
    return any(address in network and not any(address in one for one in holes) for network, holes in blocks())


def edges():
    """Return the first and last address of every network in the policy, and their neighbours outside."""
    for network, holes in blocks():
        for one in (network, *holes):
            first, last = one.network_address, one.broadcast_address
            yield from (first, last, last + 1 if last != type(last)(2**last.max_prefixlen - 1) else last)
            yield first - 1 if int(first) else first


def test_the_wall_lets_through_no_address_that_the_guard_refuses():
    draw = random.Random(7)
    some = [ipaddress.IPv4Address(draw.getrandbits(32)) for _ in range(1000)]
    some += [ipaddress.IPv6Address(1 << 125 | draw.getrandbits(125)) for _ in range(1000)]
    tried = [*edges(), *some]
    leaks = [address for address in tried if lets_through(address) and refusal(str(address))]
    assert leaks == []
    assert sum(map(lets_through, some)) > 1500


def test_network_policy_blocks_metadata_and_cluster_ranges():
    for address in ("169.254.169.254", "168.63.129.16", "10.96.0.1", "172.17.0.1", "192.168.1.1", "127.0.0.1"):
        assert not lets_through(ipaddress.ip_address(address))
    for address in ("::1", "fd00:ec2::254", "fe80::1", "64:ff9b::a00:1", "2002:a00:1::1"):
        assert not lets_through(ipaddress.ip_address(address))


def test_a_changed_topic_changes_no_template_of_a_job_because_those_cannot_be_changed():
    assert KUSTOMIZATION["generatorOptions"] == {"disableNameSuffixHash": True}
