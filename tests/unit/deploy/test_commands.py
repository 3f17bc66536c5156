"""Every command in deploy/ is one that Thresher has, with options that it takes."""

import re
import shlex

import click
import pytest

from tests.unit.deploy.files import manifests, yaml_of
from thresher.cli import thresher
from thresher.cli.stores import STORE_VARIABLE


def commands():
    """Return the command lines of compose.yaml and of the manifests, without the program's name."""
    for service in yaml_of("compose.yaml")["services"].values():
        yield from commands_in(" ".join(service.get("command", ())))
    for entry in manifests():
        for container in entry.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ()):
            if "command" in container:
                yield from commands_in(container["args"][0])
            elif container["image"] == "thresher":
                yield container["args"]


def commands_in(script):
    joined = script.replace("\\\n", " ")
    return [shlex.split(line) for line in re.findall(r"exec thresher (.*)", joined)]


def test_all_of_them_are_found():
    assert sorted(words[0] for words in commands()) == ["join", "join", "run", "run", "ui", "ui"]


def test_no_command_line_holds_a_password():
    assert not [word for words in commands() for word in words if "PASSWORD" in word or "redis://" in word]


def test_the_store_is_named_where_thresher_looks_for_it():
    services = yaml_of("compose.yaml")["services"]
    assert all(STORE_VARIABLE in services[name]["environment"] for name in ("seed", "worker", "ui"))
    pods = [entry["spec"]["template"]["spec"] for entry in manifests() if "template" in entry.get("spec", {})]
    containers = [container for pod in pods for container in pod["containers"] if container["image"] == "thresher"]
    assert len(containers) == 3
    assert all(STORE_VARIABLE in {variable["name"] for variable in one["env"]} for one in containers)


@pytest.mark.parametrize("name", ["run", "join", "ui"])
def test_the_command_takes_what_it_is_given(name):
    context = click.Context(thresher)
    command = thresher.get_command(context, name)
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    given = {word for words in commands() if words[0] == name for word in words if word.startswith("--")}
    assert given <= known
