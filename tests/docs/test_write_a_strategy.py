"""The page on strategies shows a package that can be installed, crawls over sockets and can be measured."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from testing.live_crawl import run, served, write_crawl
from thresher import registry
from thresher.cli import thresher
from thresher.errors import ConfigError
from thresher.records import Judgement, Lease, Link, ParsedPage
from thresher.runner.limits import StopReason
from thresher.storage.reader import PageStoreReader
from thresher.strategies import base
from thresher.strategies.base import Strategy
from thresher.topics.profile import TopicProfile
from thresher_lab.webs.generator import generate
from thresher_lab.webs.importers import write_web
from thresher_lab.webs.importers.pagefile import SourcePage

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "examples" / "strategy-plugin"
PAGE = (ROOT / "docs" / "tutorial" / "write-a-strategy.md").read_text(encoding="utf-8")
TOPIC = "Science/Astronomy"


@pytest.fixture
def installed(plugin, monkeypatch):
    monkeypatch.syspath_prepend(plugin)
    monkeypatch.setenv("PYTHONPATH", str(plugin))  # for workers


@pytest.fixture(scope="module")
def web():
    return generate(3, pages=600, hosts=12, tunnel_depth=0)


@pytest.mark.parametrize(("language", "name"), [("python", "thresher_patient.py"), ("toml", "pyproject.toml")])
def test_the_page_shows_the_files_as_they_are(language, name):
    [shown] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert shown == (PLUGIN / name).read_text(encoding="utf-8")


def test_the_page_names_every_further_promise():
    promises = [name for name, found in vars(base).items() if Strategy in getattr(found, "__bases__", ())]
    assert promises
    assert set(promises) == set(re.findall(r"^\| `([A-Z]\w+)` \|", PAGE, flags=re.MULTILINE))


def test_once_installed_it_is_listed_with_its_parameters(installed):
    shown = CliRunner().invoke(thresher, ["strategies", "patient"]).output
    assert "Follow a path on over irrelevant pages" in shown
    assert "patience: 0.5" in shown


def test_not_installed_it_cannot_be_chosen():
    assert "patient" not in registry.known("strategy")


def test_a_wrong_parameter_is_refused_in_its_own_words(installed):
    with pytest.raises(ConfigError, match="strategy patient: patience must lie above 0 and be at most 1, got 2"):
        registry.make("strategy", "patient", {"patience": 2}, TopicProfile())


@pytest.mark.parametrize(
    ("relevant", "misses", "scores"),
    [(True, 3, [0.5, 1.0]), (False, 0, [0.25, 0.5]), (False, 1, [0.125, 0.25])],
)
def test_patience_halves_with_every_irrelevant_page_in_a_row(installed, relevant, misses, scores):
    patient = registry.make("strategy", "patient", {}, TopicProfile(vectors={"en": {"solar": 1.0}}))
    links = (Link(url="http://a.example/1", anchor="tea"), Link(url="http://a.example/2", anchor="solar"))
    lease = Lease(
        url="http://a.example/", host="a.example", score=1.0, fence=1, until=9.0, strategy_data={"misses": misses}
    )
    page, judgement = ParsedPage(url=lease.url, links=links), Judgement(relevance=0.0, relevant=relevant)
    found = list(patient.score(page, judgement, lease))
    assert [candidate.score for candidate in found] == scores
    assert all(candidate.strategy_data == {"misses": 0 if relevant else misses + 1} for candidate in found)


async def test_it_crawls_over_sockets_and_why_prints_its_parts(installed, web, tmp_path):
    async with served(web) as places:
        crawl = write_crawl(tmp_path / "crawl", web, TOPIC, places, {"name": "patient", "patience": 0.7})
        result = await run(crawl, 40)
    assert (result.stop_reason, result.status.pages) == (StopReason.PAGES, 40)
    with PageStoreReader(crawl / "pages") as collection:
        [url, *_] = [record.url for record in collection.ranked() if record.depth]
    why = subprocess.run(
        [sys.executable, "-m", "thresher", "why", crawl, url, "--details"], capture_output=True, text=True, check=False
    )
    parts = r"found: [\d.]+\n +Parts of the link score[^\n]*\n +patience +[\d.]+\n +anchor +[\d.]+"
    assert re.search(parts, why.stdout), why.stderr


def test_it_can_be_measured_in_the_lab(installed, web, tmp_path, monkeypatch):
    monkeypatch.setenv("THRESHER_WEBS", str(tmp_path))
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    write_web(tmp_path / "small.pages.jsonl.zst", map(as_source, map(web.get, web.urls())))
    command = ["lab", "compare", "--web", "small", "--topics", TOPIC, "--seeds", "1", "--pages", "60", "--workers", "1"]
    names = ["--strategies", "patient,patient(patience=0.9)", "-o", str(tmp_path / "rows.jsonl"), "--json"]
    done = CliRunner().invoke(thresher, [*command, *names])
    assert done.exit_code == 0, done.output
    rows = [row for row in json.loads(done.stdout)["rows"] if row["strategy"] == "patient"]
    assert [row["parameters"] for row in rows] == [{}, {"patience": 0.9}]
    assert all(row["fetched"] == 60 and row["recall"] * row["targets"] > row["seeds"] for row in rows)


def as_source(page):
    return SourcePage(url=page.url, html=page.html, title=page.title, language=page.language, topics=page.topics)
