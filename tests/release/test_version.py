"""One version, declared once in the source: what else names it agrees."""

import re
import tomllib

import yaml

from testing.building import ROOT
from tests.release.versions import promised
from thresher import __version__


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_pyproject_takes_the_version_from_the_source():
    content = tomllib.loads(read("pyproject.toml"))
    assert content["project"]["dynamic"] == ["version"]
    assert content["tool"]["hatch"]["version"]["path"] == "src/thresher/__init__.py"


def test_the_citation_names_this_version_and_its_day():
    citation = yaml.safe_load(read("CITATION.cff"))
    [(version, day)] = re.findall(r"^## \[?([0-9][^ \]]*)\]? - (\S+)$", read("CHANGELOG.md"), re.MULTILINE)[:1]
    assert (citation["version"], str(citation["date-released"])) == (version, day)
    assert version == __version__


def test_the_changelog_has_a_place_for_what_comes_next():
    headings = re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1].startswith(__version__)


def test_site_operators_are_given_the_name_that_is_sent():
    assert f"User-Agent: Thresher/{__version__} " in read("docs/explanation/politeness.md")


def test_no_version_is_promised_that_the_package_refuses():
    least = tomllib.loads(read("pyproject.toml"))["project"]["requires-python"]
    assert least == f">={promised()[0]}"
