"""The wheel alone, in an environment of its own and from an empty folder: it runs, and names its extras."""

import json
import os
import subprocess
import tomllib

import pytest

from testing.building import ROOT
from tests.e2e.conftest import quick, serving
from thresher import __version__

BEYOND = """
import thresher
crawl = thresher.Crawl("solar")
try:
    crawl.{}
except thresher.ThresherError as error:
    raise SystemExit(str(error))
"""
ASKED = {
    "redis": [
        ["run", "solar", "--store", "redis://127.0.0.1:9/0"],
        ["join", "--store", "redis://127.0.0.1:9/0", "--crawl", "x"],
    ],
    "collection": [["run", "solar", "--collection", "s3://bucket/solar"], ["gather", "s3://bucket/solar", "copy"]],
    "parquet": [
        ["export", "solar", "-f", "parquet", "-o", "pages.parquet"],
        ["export", "solar", "-f", "dataset", "-o", "dataset"],
        ["export", "solar", "-f", "url-index", "-o", "index"],
        ["batch", "links", "solar", "-o", "links.parquet"],
        ["run", "solar", "--collection", "file:///collection"],
        "pages().to_arrow()",
        "export('pages.parquet')",
    ],
    "identity": [["identity", "new"], ["identity", "show"]],
    "metrics": [["run", "solar", "--pages", "1", "--metrics-port", "9"]],
    "learn": [["run", "judge"], ["train", "solar", "--train", "layers"], ["train", "solar", "--train", "rules"]],
    "lab": [["lab", "compare", "--web", "generated-en-1000", "--strategies", "best-first"]],
    "warc": [["run", "warc"]],
    "notebook": ["pages().to_pandas()", "plot_harvest()"],
    "ray": [["batch", "links", "solar", "-o", "links.parquet", "--ray", "local"]],
    "ui": [["ui", "solar", "--no-open"]],
    "llm": [["label", "modelled", "--model"]],
    "mcp": [["mcp", "."]],
    "browser": [["run", "rendered"]],
}
"""What asks for each extra: commands, or calls in Python."""
IMPORTED = {"scrapy": "thresher_scrapy.addon"}
"""Extras for modules that other programs import."""
ASKS_FOR_NOTHING = {"dev", "speed"}
"""One is for those who work on Thresher; without the other a worker uses the event loop of asyncio."""


MAX_BYTES = 150_000_000
"""Of all packages that an installation without extras has, this one included."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An empty folder."""
    return tmp_path_factory.mktemp("reader")


@pytest.fixture(scope="module")
def installed(bare, folder):
    """Runs the installed programs from an empty folder, with nothing of this source in sight."""
    hidden = ("PYTHON", "THRESHER", "VIRTUAL_ENV")
    seen = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    path = f"{bare.parent}{os.pathsep}{seen['PATH']}"
    environment = {**seen, "PATH": path, "THRESHER_WEBS": str(folder), "NO_COLOR": "1"}

    def call(*words):
        return subprocess.run(
            list(map(str, words)), cwd=folder, env=environment, capture_output=True, text=True, timeout=120
        )

    return call


@pytest.fixture(scope="module")
def crawls(installed, folder):
    """A crawl, and four whose topic.yaml asks for more than there is."""
    seed = "http://127.0.0.1:9/"
    for name in ("solar", "judge", "modelled", "rendered", "warc"):
        assert installed("thresher", "new", name, "--topic", "solar cells", "--seed", seed).returncode == 0
    settings = {
        "judge": "judge: {name: svm}",
        "modelled": "model_labels: {endpoint: 'http://127.0.0.1:9/v1', model: small}",
        "rendered": "browser: {detect: true}",
    }
    for name, more in settings.items():
        with (folder / name / "topic.yaml").open("a") as file:
            file.write(f"{more}\n")
    topic = folder / "warc" / "topic.yaml"
    topic.write_text(topic.read_text().replace("output: {", "output: {warc: true, "))


def test_it_says_its_version(installed):
    assert installed("thresher", "--version").stdout.strip() == f"thresher, version {__version__}"
    assert installed("python", "-m", "thresher", "--version").stdout == installed("thresher", "--version").stdout


def test_every_public_name_can_be_imported(installed):
    program = "import thresher; print(thresher.__file__, [getattr(thresher, name) for name in thresher.__all__])"
    done = installed("python", "-W", "error", "-c", program)
    assert done.returncode == 0, done.stderr
    assert str(ROOT) not in done.stdout


def test_the_demo_crawls_and_explains(installed):
    done = installed("thresher", "demo", "--pages", "50")
    assert done.returncode == 0, done.stderr
    assert "breadth-first" in done.stdout
    assert "Now with your own topic:" in done.stdout


def test_the_plain_installation_is_small(bare):
    """Bytecode is not counted: Python writes it for what was imported so far."""
    [packages] = (bare.parents[1] / "lib").glob("python*/site-packages")
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert size <= MAX_BYTES


def test_a_crawl_needs_no_extra(installed, folder):
    links = " ".join(f"<a href=/{number}>solar cells {number}</a>" for number in range(30))
    with serving() as site:
        site.pages = {
            f"/{number}": f"<title>Cell {number}</title><p>Solar cells of kind {number}.</p>{links}"
            for number in range(30)
        }
        _check_crawl(installed, folder, site)


def _check_crawl(installed, folder, site):
    assert installed("thresher", "new", "whole", "--topic", "solar cells", "--seed", site.url("/0")).returncode == 0
    quick(folder / "whole")
    done = {
        words[0]: installed("thresher", *words)
        for words in (
            ["run", "whole", "--pages", "20"],
            ["status", "whole", "--json"],
            ["search", "whole", "solar cells", "--json"],
            ["export", "whole", "-f", "jsonl"],
            ["why", "whole", site.url("/1")],
            ["verify", "whole"],
        )
    }
    assert {name: each.stderr for name, each in done.items() if each.returncode} == {}
    assert json.loads(done["status"].stdout)["pages"] == 20
    assert len(done["export"].stdout.splitlines()) == 20
    assert site.url("/") in done["search"].stdout


def test_commands_that_only_look_need_no_extra(installed, crawls):
    for words in (
        ["status", "solar"],
        ["strategies"],
        ["judges"],
        ["doctor"],
        ["frontier", "solar"],
    ):
        done = installed("thresher", *words)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("extra", "words"), [(extra, words) for extra, asked in ASKED.items() for words in asked])
def test_what_is_missing_is_named_with_its_extra(extra, words, installed, crawls):
    is_call = isinstance(words, str)
    done = installed("python", "-c", BEYOND.format(words)) if is_call else installed("thresher", *words)
    assert done.returncode in (1, 4), done.stderr
    assert f'pip install "thresher-crawler[{extra}]"' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("extra", "module"), IMPORTED.items())
def test_a_module_without_its_extra_says_which(extra, module, installed):
    done = installed("python", "-c", f"import {module}")
    assert done.returncode == 1, done.stderr
    assert f'pip install "thresher-crawler[{extra}]"' in done.stderr.splitlines()[-1]


def test_every_extra_was_asked_for():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(extras) == ASKED.keys() | IMPORTED.keys() | ASKS_FOR_NOTHING


def test_the_main_content_is_extracted_without_an_extra(installed):
    extract = "from thresher.parsing.main_content import content_of_markup as extract"
    program = f"{extract}; print(extract('http://a.example/', '<h1>A</h1><p>one</p>').markdown)"
    assert installed("python", "-W", "error", "-c", program).stdout.split() == ["#", "A", "one"]
