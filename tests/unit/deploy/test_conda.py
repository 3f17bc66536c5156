"""The conda recipe needs what pyproject.toml needs. It is read, not built: that takes rattler-build and channels."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.unit.deploy.files import ROOT, yaml_of
from thresher import __version__

CONDA_NAMES = {"brotli": "brotli-python", "backports-zstd": "backports.zstd", "xxhash": "python-xxhash"}
"""The packages that have another name there."""


@pytest.fixture(scope="module")
def recipe():
    return yaml_of("conda/recipe.yaml")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def from_pyproject(lines):
    """Return what requirements of Python are called in conda: names with versions, and the Python that they are for."""
    found = {}
    for requirement in map(Requirement, lines):
        name = canonicalize_name(requirement.name)
        least = re.search(r'python_version ?< ?"([\d.]+)"', str(requirement.marker or ""))
        found[CONDA_NAMES.get(name, name)] = versions(str(requirement.specifier)), least[1] if least else ""
    return found


def from_recipe(entries):
    found = {}
    for entry in entries:
        line, condition = (entry["then"], entry["if"]) if isinstance(entry, dict) else (entry, "")
        name, _, specifier = line.partition(" ")
        least = re.fullmatch(r'match\(python, "<([\d.]+)"\)', condition)
        found[name] = versions(specifier), least[1] if least else ""
    return found


def versions(specifier):
    return frozenset(filter(None, specifier.replace(" ", "").split(",")))


def test_it_needs_the_same_packages_in_the_same_versions(recipe, project):
    needed = from_recipe(recipe["requirements"]["run"])
    assert needed.pop("python") == (frozenset(), "")
    assert needed == from_pyproject(project["project"]["dependencies"])


def test_it_is_built_with_what_the_build_needs(recipe, project):
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    host = from_recipe(recipe["requirements"]["host"])
    assert from_pyproject([*project["build-system"]["requires"], *hook["dependencies"]]).items() <= host.items()


def test_it_is_about_this_version_of_this_source(recipe, project):
    assert (recipe["schema_version"], recipe["context"]["version"]) == (1, __version__)
    assert recipe["package"] == {"name": project["project"]["name"], "version": "${{ version }}"}
    folder = ROOT / "deploy" / "conda"
    assert (folder / recipe["source"]["path"]).resolve() == ROOT
    assert (ROOT / recipe["about"]["license_file"]).exists()
    assert recipe["about"]["license"] == project["project"]["license"]
    least = project["project"]["requires-python"].removeprefix(">=")
    assert f'match(python, "<{least}")' in recipe["build"]["skip"]


def test_what_it_tests_needs_no_network(recipe):
    python, commands = recipe["tests"]
    assert python["python"]["pip_check"]
    assert commands["script"] == ["thresher --version", "thresher demo --pages 50"]
