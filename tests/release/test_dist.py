"""Wheel and source archive hold what they should, and nothing else; anyone who builds them gets the same bytes."""

import tarfile
import tomllib
import zipfile
from email import message_from_string
from hashlib import sha256

import markdown
import pytest

from testing.building import ROOT, build, build_wheel, install, run
from thresher import __version__

SOURCE = ROOT / "src"
KINDS = {
    ".py",
    ".typed",
    ".sql",
    ".lua",
    ".html",
    ".css",
    ".js",
    ".svg",
    ".po",
    ".mo",
    ".json",
    ".txt",
    ".tsv",
    ".npz",
    ".toml",
    ".pyx",
    ".pyi",
}
INFO = f"thresher_crawler-{__version__}.dist-info"
LARGEST_WHEEL, LARGEST_SDIST = 5_300_000, 9_000_000


def content_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


@pytest.fixture(scope="module")
def metadata(dist):
    with zipfile.ZipFile(dist.wheel) as archive:
        return message_from_string(archive.read(f"{INFO}/METADATA").decode("utf-8"))


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(dist):
    own = [
        path
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so"
    ]
    expected = {str(path.relative_to(SOURCE)): sha256(path.read_bytes()).hexdigest() for path in own}
    packed = {name: digest for name, digest in content_of(dist.wheel).items() if not name.startswith(f"{INFO}/")}
    assert packed == expected
    assert {path.suffix for path in own} <= KINDS


def test_beside_the_package_a_wheel_holds_its_papers_only(dist):
    papers = {name.removeprefix(f"{INFO}/") for name in content_of(dist.wheel) if name.startswith(f"{INFO}/")}
    assert papers == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


def test_a_second_build_has_the_same_bytes(dist, tmp_path):
    again = build(tmp_path)
    assert again.wheel.read_bytes() == dist.wheel.read_bytes()
    assert again.sdist.read_bytes() == dist.sdist.read_bytes()


def test_the_source_archive_builds_the_same_wheel(dist, tmp_path):
    with tarfile.open(dist.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    again = build(tmp_path / "dist", source=tmp_path / f"thresher_crawler-{__version__}")
    assert content_of(again.wheel) == content_of(dist.wheel)


def test_the_wheel_of_a_platform_has_the_compiled_loops_besides(dist, wheel):
    more = {name for name in content_of(wheel).keys() - content_of(dist.wheel).keys() if "dist-info" not in name}
    assert {name.partition(".")[0] for name in more} == {"thresher/native/loops", "thresher/native/tree"}
    assert "none-any" not in wheel.name


def test_without_a_compiler_the_wheel_is_that_of_all_platforms(dist, tmp_path):
    wheel = build_wheel(tmp_path, CC="false")
    assert wheel.name == dist.wheel.name
    assert content_of(wheel) == content_of(dist.wheel)


def test_a_release_fails_without_a_compiler(tmp_path):
    with pytest.raises(SystemExit, match="CompileError"):
        build_wheel(tmp_path, CC="false", THRESHER_NATIVE="require")


@pytest.mark.parametrize(("compiler", "has_loops"), [("cc", True), ("false", False)])
def test_the_source_archive_can_be_installed_with_and_without_a_compiler(dist, tmp_path, compiler, has_loops):
    python = install(dist.sdist, tmp_path / "environment", "--no-deps", CC=compiler)
    program = "from thresher.native import compiled; print(compiled is not None)"
    assert run([str(python), "-I", "-c", program]) == f"{has_loops}\n"


def test_the_source_archive_holds_no_leavings(dist):
    with tarfile.open(dist.sdist) as archive:
        names = archive.getnames()
    assert not [name for name in names if name.endswith((".pyc", ".db", ".warc.gz", ".log.jsonl", ".whl"))]
    assert not [
        name for name in names if "/." in name and not name.endswith((".gitignore", ".dockerignore", ".example"))
    ]
    tops = {name.split("/")[1] for name in names}
    assert {"src", "tests", "docs", "bench", "examples", "deploy", "README.md", "LICENSE", "constraints.txt"} <= tops


def test_both_stay_small(dist):
    assert dist.wheel.stat().st_size < LARGEST_WHEEL
    assert dist.sdist.stat().st_size < LARGEST_SDIST


def test_the_papers_say_what_pyproject_says(metadata, project):
    assert (metadata["Name"], metadata["Version"]) == ("thresher-crawler", __version__)
    assert metadata["Requires-Python"] == project["requires-python"]
    assert (metadata["License-Expression"], metadata["License-File"]) == ("Apache-2.0", "LICENSE")
    assert set(metadata.get_all("Provides-Extra")) == set(project["optional-dependencies"])
    assert sorted(metadata.get_all("Classifier")) == sorted(project["classifiers"])
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    assert len(needed) == len(project["dependencies"])


def test_the_command_is_entered(dist):
    with zipfile.ZipFile(dist.wheel) as archive:
        entered = archive.read(f"{INFO}/entry_points.txt").decode()
    assert "[console_scripts]\nthresher = thresher.cli:main\n" in entered
    assert "[thresher.commands]\ndemo = thresher_lab.cli.demo:demo\n" in entered
    assert "[thresher.strategies]\nache-levels = thresher_lab.peers.ache_levels:AcheLevels\n" in entered


def test_the_readme_goes_along_and_renders(metadata):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().strip() == readme.strip()
    page = markdown.markdown(readme, extensions=["tables", "fenced_code"])
    assert (page.count("<h1"), page.count("<table>"), "```" in page) == (1, 2, False)
