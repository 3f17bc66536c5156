"""The workflows of the repository: valid, with the least rights, pinned actions, and no stored password."""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from testing.building import ROOT
from tests.release.versions import promised

GITHUB = ROOT / ".github"
FILES = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOWS = {path.name: yaml.load(path.read_text(encoding="utf-8"), yaml.BaseLoader) for path in FILES}
JOBS = {(name, job): content for name, flow in WORKFLOWS.items() for job, content in flow["jobs"].items()}
STEPS = [(place, step) for place, job in JOBS.items() for step in job.get("steps", [])]
WRITES = {
    ("docs.yml", "deploy"): {"pages", "id-token"},
    ("release.yml", "publish"): {"id-token"},
    ("release.yml", "announce"): {"contents"},
}
"""The jobs that may write anything, and what."""
pytestmark = pytest.mark.skipif(not FILES, reason="a source archive has no workflows")
SCHEMAS = {
    "vendor.github-workflows": FILES,
    "custom.github-workflows-require-timeout": FILES,
    "vendor.github-issue-forms": [path for path in FORMS if path.name != "config.yml"],
    "vendor.github-issue-config": [path for path in FORMS if path.name == "config.yml"],
    "vendor.dependabot": [GITHUB / "dependabot.yml"],
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_keep_their_schema(schema):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, SCHEMAS[schema])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_a_workflow_for_tests_docs_nights_and_releases():
    assert [*WORKFLOWS] == ["check.yml", "docs.yml", "nightly.yml", "release.yml"]


def test_a_workflow_has_no_rights_and_a_job_has_the_least():
    assert {name: flow["permissions"] for name, flow in WORKFLOWS.items()} == {name: {} for name in WORKFLOWS}
    for place, job in JOBS.items():
        writes = {right for right, level in job["permissions"].items() if level == "write"}
        assert writes == WRITES.get(place, set()), place


@pytest.mark.parametrize("place", [place for place, job in JOBS.items() if "uses" not in job], ids=" ".join)
def test_a_job_ends_by_itself(place):
    assert int(JOBS[place]["timeout-minutes"]) <= 90


def test_actions_are_pinned_to_a_version():
    used = [step["uses"] for _, step in STEPS if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+(\.\d+)*", name)] == []


def test_the_checkout_leaves_no_token_behind():
    for place, step in STEPS:
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] == "false", place


def test_no_expression_is_written_into_a_script():
    """Text that others choose, such as the name of a branch, would be run by the shell."""
    assert [place for place, step in STEPS if "${{" in step.get("run", "")] == []


def test_no_secret_is_stored():
    for path in FILES:
        assert "secrets." not in path.read_text(encoding="utf-8"), path.name


def test_commands_of_make_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for place, step in STEPS:
        for target in re.findall(r"\bmake ([\w-]+)", step.get("run", "")):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), (place, target)


def test_every_promised_python_is_tested_and_built():
    assert JOBS["check.yml", "check"]["strategy"]["matrix"]["python"] == promised()
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]["build"]
    assert build == [f"cp{version.replace('.', '')}-*" for version in promised()]


def test_only_a_tag_publishes_after_all_tests_and_an_approval():
    publish = JOBS["release.yml", "publish"]
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/')"
    assert {"check", "compiled", "pure"} == set(publish["needs"])
    assert publish["environment"] == "release"
    assert JOBS["release.yml", "check"]["uses"] == "./.github/workflows/check.yml"
    assert JOBS["release.yml", "announce"]["needs"] == "publish"


def test_the_notes_of_a_release_are_its_entry_of_the_changelog():
    [command] = [step["run"] for _, step in STEPS if "CHANGELOG.md" in step.get("run", "")]
    shown = subprocess.run(["sh", "-c", command.partition(" > ")[0]], cwd=ROOT, capture_output=True, text=True)
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.findall(r"^## (.+)$", shown.stdout, re.MULTILINE) == [headings[1]]
