"""The core objects of deploy/ run in ``podman kube play``: store, seed and workers crawl a site to its end.

podman 4 knows no StatefulSet and no Job, reads a Secret as JSON, and replaces no $(NAME). So the pods of these objects
are played, with the names filled in; what is in them stays as it is.
"""

import base64
import json
import secrets
import time
from copy import deepcopy
from itertools import count

import pytest
import yaml

from tests.deployment.podman import ROOT, topic
from tests.deployment.site import host_of

HERE = ROOT / "tests" / "deployment"
NETWORK, CRAWL, PAGES, HOSTS = "thresher-kube", "solar", 200, 4
TOPIC = topic(CRAWL, politeness={"delay_seconds": 0.2, "contact": "ops@example.org"})


class Cluster:
    """Pods of the manifests, in a network of their own."""

    def __init__(self, podman, folder):
        self.podman = podman
        self.folder = folder
        self.password = secrets.token_hex(24)
        self.ports = count(20_100)
        text = podman.run("kubectl", "kustomize", ROOT / "deploy")
        self.objects = list(
            yaml.safe_load_all(text.replace("$(STORE_PASSWORD)", self.password).replace("$(CRAWL)", CRAWL))
        )

    def found(self, kind, name):
        return next(one for one in self.objects if (one["kind"], one["metadata"]["name"]) == (kind, name))

    def config_maps(self):
        """Return the settings, with a topic and seeds in place of the example's; pages stay on each machine's disk."""
        maps = [one for one in self.objects if one["kind"] == "ConfigMap"]
        for one in maps:
            if "topic.yaml" in one["data"]:
                seeds = f"http://{host_of(0, HOSTS)}:8080/p0.html\n"
                one["data"] = {"topic.yaml": yaml.safe_dump(TOPIC), "seeds.txt": seeds}
            if "COLLECTION" in one["data"]:
                one["data"] |= {"COLLECTION": "", "CRAWL": CRAWL}
        return maps

    def play(self, name, template, claims=()):
        spec = deepcopy(template)
        for volume in spec["volumes"]:  # podman 4 gives pods one folder for all emptyDirs of a name
            volume["name"] = f"{name}-{volume['name']}"
        for container in spec["containers"]:
            for mount in container["volumeMounts"]:
                mount["name"] = f"{name}-{mount['name']}"
            container.pop("readinessProbe", None)  # podman 4 has none of these
            container.pop("startupProbe", None)
            if container["image"].startswith("thresher:"):
                container["image"] = "localhost/thresher"
            for port in container.get("ports", ()):  # it publishes them all; each here under a number of its own
                port["hostPort"] = next(self.ports)
            if "$COLLECTION" in str(container.get("args")):
                container["args"] = [part.replace(' --collection "$COLLECTION"', "") for part in container["args"]]
        spec["restartPolicy"] = spec.get("restartPolicy", "Always")
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": spec}
        file = self.folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump_all([*self.config_maps(), *claims, pod]))
        self.podman("kube", "play", "--network", NETWORK, file)

    def template(self, kind, name):
        return self.found(kind, name)["spec"]["template"]["spec"]

    def start(self):
        store = self.template("StatefulSet", "store")
        [template] = self.found("StatefulSet", "store")["spec"]["volumeClaimTemplates"]
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data-store-0"},
            "spec": template["spec"],
        }
        store["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": "data-store-0"}})
        secret = self.folder / "secret.json"
        secret.write_text(json.dumps({"password": base64.b64encode(self.password.encode()).decode()}))
        self.podman("secret", "create", "store", secret)
        self.play("store", store, [claim])
        self.play("seed", self.template("Job", "seed"), [self.found("PersistentVolumeClaim", "seed")])
        for number in (1, 2):
            self.play(f"worker{number}", self.template("Job", "worker"))

    def remove(self):
        for pod in ("worker1", "worker2", "seed", "store"):
            self.podman("pod", "rm", "-f", "-t", "1", pod, check=False)
        self.podman("rm", "-f", "-t", "1", "kube-site", check=False)
        self.podman("secret", "rm", "store", check=False)
        for volume in self.podman("volume", "ls", "-q").split():
            self.podman("volume", "rm", "-f", volume, check=False)
        self.podman("network", "rm", "-f", NETWORK, check=False)


@pytest.fixture
def cluster(podman, tmp_path):
    cluster = Cluster(podman, tmp_path)
    cluster.remove()
    podman("network", "create", NETWORK)
    names = [f"--network-alias={host_of(host, HOSTS)}" for host in range(HOSTS)]
    podman(
        "run", "-d", "--name", "kube-site", "--network", NETWORK, *names, "--user", "0", "--no-healthcheck",
        "-v", f"{HERE}/site.py:/site.py:ro", "-v", f"{tmp_path}:/log", "--entrypoint", "python", "thresher",
        "/site.py", 8080, PAGES, HOSTS, "/log/site.log",
    )  # fmt: skip
    yield cluster
    cluster.remove()


@pytest.mark.timeout(900)
def test_the_pods_of_the_manifests_crawl_a_site_and_end_with_0(cluster):
    podman = cluster.podman
    cluster.start()
    names = ["seed-seed", "worker1-worker", "worker2-worker"]
    deadline = time.monotonic() + 300
    while not all(podman.state(name)[0] == "exited" for name in names):
        assert time.monotonic() < deadline, "\n".join(podman.logs(name)[-1500:] for name in names)
        time.sleep(2.0)
    codes = {name: podman.state(name)[1] for name in names}
    assert codes == dict.fromkeys(names, 0), "\n".join(podman.logs(name)[-1500:] for name in names if codes[name])
    fetched = (cluster.folder / "site.log").read_text().split()
    assert len(fetched) == len(set(fetched)) == PAGES
