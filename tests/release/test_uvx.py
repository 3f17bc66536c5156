"""The wheel is run without being installed, as `uvx` does it; and agents start it as server.json says."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from testing.building import ROOT
from thresher import __version__
from thresher.cli import thresher

SERVER = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
[PACKAGE] = SERVER["packages"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
UNREACHABLE = re.compile(r"error sending request|dns error|Failed to fetch|Connection refused|Could not connect")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}


@pytest.fixture(scope="module")
def uvx():
    """The program, which comes with the package uv."""
    found = shutil.which("uvx", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return found or pytest.skip("uv is not installed")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Nothing of this source or of the user's tools; packages come from where pip has them from."""
    hidden = ("PYTHON", "THRESHER", "VIRTUAL_ENV")
    seen = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    index = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    configured = subprocess.run(index, capture_output=True, text=True).stdout.strip()
    if url := seen.get("PIP_INDEX_URL") or configured:
        seen["UV_DEFAULT_INDEX"] = url
    folder = tmp_path_factory.mktemp("uv")
    return {**seen, "UV_CACHE_DIR": str(folder / "cache"), "UV_TOOL_DIR": str(folder / "tools"), "NO_COLOR": "1"}


def options(wheel):
    pinned = ["--constraints", str(ROOT / "constraints.txt")]
    return ["--python", sys.executable, "--no-progress", *pinned, "--from", str(wheel)]


@pytest.fixture(scope="module")
def run(uvx, wheel, environment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader")

    def call(*words):
        command = [uvx, *options(wheel), *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200)
        if done.returncode and UNREACHABLE.search(done.stderr):
            pytest.skip(f"packages cannot be had: {done.stderr.strip().splitlines()[-1]}")
        return done

    return call


@pytest.mark.parametrize("command", ["thresher-crawler", "thresher"])
def test_it_says_its_version_without_being_installed(run, command):
    done = run(command, "--version")
    assert done.stdout == f"thresher, version {__version__}\n", done.stderr


def test_the_demo_needs_one_line(run):
    done = run("thresher-crawler", "demo", "--pages", "50")
    assert done.returncode == 0, done.stderr
    assert "Now with your own topic:" in done.stdout


def test_an_agent_starts_the_server_as_server_json_says(run, uvx, wheel, environment, tmp_path):
    run("thresher-crawler", "--version")  # or the reason why packages cannot be had
    command = [uvx, *_words("runtimeArguments"), *options(wheel), PACKAGE["identifier"], *_words("packageArguments")]
    with subprocess.Popen(
        [*command, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        server.stdin.write(json.dumps(INITIALIZE) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        server.stdin.close()
    assert answer["result"]["serverInfo"]["name"] == "thresher"


def _words(key):
    """Return arguments of server.json as a client writes them; what the user gives is left out."""
    for argument in PACKAGE[key]:
        yield from [argument["name"]] if argument["type"] == "named" else []
        yield from [argument["value"]] if "value" in argument else []


def test_server_json_names_this_version_and_no_registry():
    assert SERVER["version"] == PACKAGE["version"] == __version__
    assert (PACKAGE["registryType"], PACKAGE["identifier"]) == ("pypi", PROJECT["name"])
    assert "registryBaseUrl" not in PACKAGE
    assert PROJECT["scripts"][PACKAGE["identifier"]] == PROJECT["scripts"]["thresher"]


def test_server_json_keeps_the_limits_of_its_schema():
    assert re.fullmatch(r"https://\S+/schemas/\d{4}-\d\d-\d\d/server\.schema\.json", SERVER["$schema"])
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 0 < len(SERVER["description"]) <= 100
    assert (PACKAGE["runtimeHint"], PACKAGE["transport"]) == ("uvx", {"type": "stdio"})
    arguments = [*PACKAGE["runtimeArguments"], *PACKAGE["packageArguments"]]
    assert all(each["type"] == "named" or {"value", "valueHint"} & each.keys() for each in arguments)


def test_the_command_of_server_json_is_one_that_thresher_has(tmp_path):
    name, *words = _words("packageArguments")
    command = thresher.get_command(click.Context(thresher), name)
    context = command.make_context(name, [*words, str(tmp_path)])
    assert context.params["root"] == tmp_path
    [(_, extra)] = [re.fullmatch(r"(.+)\[(.+)\]", word).groups() for word in _words("runtimeArguments") if "[" in word]
    assert extra in PROJECT["optional-dependencies"]


def test_the_readme_names_the_server_if_it_names_one():
    """The registry reads the name from the description of the package."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"mcp-name: (\S+)", readme)) <= {SERVER["name"]}
