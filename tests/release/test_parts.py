"""The parts list names everything that an installation brings; what an audit says of it is reported plainly."""

import json
import re
import subprocess
import tomllib
from importlib.metadata import requires

import pytest

from testing.building import ROOT
from tests.release import audit
from tests.release.sbom import parts_list
from thresher import __version__

WEAK = {"id": "CVE-2026-1", "fix_versions": ["2.0"], "aliases": [], "description": ""}


@pytest.fixture(scope="module")
def parts(bare):
    return parts_list(bare)


def names(requirements):
    return {_plain(re.match(r"[\w.-]+", line)[0]) for line in requirements if "extra ==" not in line}


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_runtime_dependency_is_named_with_its_version(parts):
    listed = {_plain(part["name"]): part["version"] for part in parts["components"]}
    direct = names(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"])
    assert direct <= set(listed)
    assert names(requires("tldextract")) & {"requests", "idna"} <= set(listed)
    assert all(listed.values())


def test_nothing_is_listed_that_a_user_does_not_get(parts):
    listed = {_plain(part["name"]) for part in parts["components"]}
    assert not listed & {
        "pip",
        "setuptools",
        "pytest",
        "ruff",
        "mypy",
        "thresher-crawler",
        "scikit-learn",
        "redis",
        "scrapy",
    }


def test_it_is_about_this_version_and_names_no_place_of_this_machine(parts):
    about = parts["metadata"]["component"]
    assert (parts["bomFormat"], about["name"], about["version"]) == ("CycloneDX", "thresher-crawler", __version__)
    text = json.dumps(parts)
    assert "file://" not in text
    assert str(ROOT) not in text


def test_a_weakness_fails_the_audit_and_names_the_mended_version():
    packages = [{"name": "a", "version": "1.0", "vulns": [WEAK]}, {"name": "b", "version": "1.0", "vulns": []}]
    assert audit.verdict(packages) == (
        "1 of 2 packages have known weaknesses:\na 1.0: CVE-2026-1 (fixed in 2.0)",
        1,
    )


def test_no_weakness_is_reported_with_what_is_not_known():
    packages = [{"name": "a", "version": "1.0", "vulns": []}, {"name": "b", "skip_reason": "not there"}]
    assert audit.verdict(packages) == ("No known weakness in 1 packages; 1 are not known to the service.", 0)


def test_a_service_that_knows_nothing_is_no_clean_bill():
    sentence, code = audit.verdict([{"name": "a", "skip_reason": "not there"}])
    assert (sentence, code) == ("Nothing is known: the service answered for none of 1 packages.", 0)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (subprocess.CompletedProcess([], 1, "", "x\nERROR: no route to host\n"), "(ERROR: no route to host)"),
        (subprocess.CompletedProcess([], 1, "", ""), "(it said nothing)"),
        (subprocess.TimeoutExpired([], 300), "did not answer within 300 s"),
    ],
)
def test_without_a_service_the_audit_ends_with_a_sentence_and_no_failure(answer, words, monkeypatch, capsys):
    def run(*_, **__):
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(subprocess, "run", run)
    assert audit.main() == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Nothing is known: the service ")
    assert words in printed
