"""The image holds the package and nothing else, and runs it as nobody in particular."""

import json
import os
import re
import subprocess
import time
import tomllib

import pytest

from tests.unit.deploy.files import DEPLOY, ROOT, text, yaml_of
from thresher.assembly import check_crawl
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.runner.worker import HEALTH_VARIABLE


def instructions():
    """Return the Dockerfile as pairs of instruction and what follows it, comments gone and lines joined."""
    lines = [line for line in text("Dockerfile").splitlines() if line and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    return [tuple(line.split(None, 1)) for line in joined]


def final_stage():
    last = max(place for place, (name, _) in enumerate(instructions()) if name == "FROM")
    return instructions()[last:]


def value_of(name):
    [found] = [rest for instruction, rest in final_stage() if instruction == name]
    return found


def arguments():
    """Return the values that a build may change."""
    return dict(rest.split("=") for name, rest in instructions() if name == "ARG")


def test_the_image_has_no_compiler_and_the_same_python_as_the_stage_that_has_one():
    bases = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    assert bases == ["${BUILD_IMAGE}", "${BASE_IMAGE}"]
    assert (arguments()["BUILD_IMAGE"], arguments()["BASE_IMAGE"]) == ("python:3.12", "python:3.12-slim")


def test_the_user_is_a_number_above_zero():
    assert all(int(part) > 0 for part in value_of("USER").split(":"))


def test_it_runs_thresher_and_can_be_asked_for_its_health():
    assert json.loads(value_of("ENTRYPOINT")) == ["thresher"]
    environment = " ".join(rest for name, rest in final_stage() if name == "ENV")
    assert f"{HEALTH_VARIABLE}=" in environment
    assert f"${HEALTH_VARIABLE}" in value_of("HEALTHCHECK")
    assert value_of("VOLUME") == "/data"
    assert value_of("STOPSIGNAL") == "SIGTERM"


@pytest.mark.parametrize(("age_seconds", "healthy"), [(None, True), (5, True), (600, False)])
def test_the_health_check_goes_by_the_age_of_the_file(tmp_path, age_seconds, healthy):
    file = tmp_path / "health"
    if age_seconds is not None:
        file.touch()
        os.utime(file, (time.time() - age_seconds,) * 2)
    command = json.loads(value_of("HEALTHCHECK").partition("CMD ")[2])
    ran = subprocess.run(command, env={**os.environ, HEALTH_VARIABLE: str(file)}, check=False)
    assert (ran.returncode == 0) is healthy


def test_dependencies_come_as_wheels_our_loops_are_compiled_and_no_tool_is_left():
    runs = " ".join(rest for name, rest in instructions() if name == "RUN")
    assert "THRESHER_NATIVE=require" in runs
    assert "--only-binary=:all:" in runs
    assert "--constraint constraints.txt" in runs
    assert not re.search(r"\b(apt-get|apk|gcc|curl|wget)\b", runs)
    assert "pip" not in " ".join(rest for name, rest in final_stage() if name == "RUN")


def test_every_extra_exists():
    extras = arguments()["EXTRAS"].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras) <= known.keys()
    apart = {"browser", "dev", "identity", "lab", "learn", "llm", "notebook", "parquet", "ray", "scrapy"}
    assert set(extras) == known.keys() - apart  # parquet comes with collection


def test_what_is_copied_is_there_and_nothing_else_is_sent():
    copied = [rest.split()[:-1] for name, rest in instructions() if name == "COPY" and "--from" not in rest]
    sources = {source for group in copied for source in group}
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignored
    assert {line[1:] for line in ignored if line.startswith("!")} == sources
    assert all((ROOT / source).exists() for source in sources)


def test_the_example_crawl_does_not_start_before_somebody_can_be_written_to():
    crawl = CrawlSetup.open(DEPLOY / "crawl")
    assert crawl.config.politeness.contact == ""
    with pytest.raises(ConfigError, match=r"politeness\.contact is empty"):
        check_crawl(crawl)


def test_prometheus_asks_workers_where_they_answer():
    [job] = yaml_of("prometheus.yml")["scrape_configs"]
    [names] = job["dns_sd_configs"]
    assert (names["names"], str(names["port"])) == (["worker"], value_of("EXPOSE"))
    assert "worker" in yaml_of("compose.yaml")["services"]
