"""A crawl of two topics over real sockets: judged, counted, budgeted and reported separately."""

import asyncio
import json

import pytest
import yaml

from testing.labels import questions
from testing.servers import store_server
from tests.e2e.conftest import CommandLine, quick, serving
from thresher import Crawl
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.feedback.topic_counts import read_topic_counts
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.operations.labelling import add_labels
from thresher.storage.reader import PageStoreReader
from thresher_ui.dashboard.open_crawl import OpenCrawl
from thresher_ui.dashboard.views.pages import pages
from thresher_ui.dashboard.views.status import status

SOLAR_NAME, TEA_NAME = "perovskite-solar", "green-tea"
SOLAR = "<p>Perovskite solar cells: perovskite layers make solar cells cheap, cell number {}.</p>"
TEA = "<p>How to brew green tea, and which tea pot to use for green tea leaves, cup number {}.</p>"
NEWS = "<p>The mayor opened a bridge over the river in the old town, report number {}.</p>"


def page(title, body, *targets):
    anchors = "".join(f'<a href="{target}">{target.strip("/")}</a> ' for target in targets)
    return f"<html><head><title>{title}</title></head><body>{body}{anchors}</body></html>"


def many(word, text, number, *, more=()):
    """A start page of a topic, and its pages, each of which links to the next two."""
    names = [f"/{word}{place}" for place in range(number)]
    pages = {f"/{word}": page(word, text.format("zero"), *names[:2], *more)}
    for place, name in enumerate(names):
        pages[name] = page(f"{word} {place}", text.format(place), *names[place + 1 : place + 3])
    return pages


PAGES = {
    **many("solar", SOLAR, 12, more=["/both", "/news"]),
    **many("tea", TEA, 12, more=["/news"]),
    **many("news", NEWS, 8),
    "/both": page("both", SOLAR.format("x") + TEA.format("y")),
    "/start-of-tea": (302, {"Location": "/tea"}, ""),
}


def new(thresher, site, folder, **settings):
    """Make a crawl of both topics, with further settings of each."""
    made = thresher.apart(
        *("new", "two", "--topic", "perovskite solar", "--topic", "green tea", "--seed", site.url("/news")),
        *("--seed", f"perovskite-solar={site.url('/solar')}", "--seed", f"green-tea={site.url('/start-of-tea')}"),
    )
    assert made.returncode == 0, made.stderr
    assert "judged and counted separately: perovskite-solar, green-tea" in made.stderr
    path = folder / "two" / "topic.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    for name, short in ((SOLAR_NAME, "solar"), (TEA_NAME, "tea")):
        content["topics"][short] = {**content["topics"].pop(name), **settings.get(short, {})}
    path.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in content.items()), encoding="utf-8")
    quick(folder / "two")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    thresher = CommandLine(folder)
    with serving() as site:
        site.pages = dict(PAGES)
        new(thresher, site, folder)
        ran = thresher("run", "two")
        assert ran.returncode == 0, ran.stderr
        yield site, thresher


def rows(thresher, *options):
    done = thresher("export", "two", *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_page_has_a_probability_for_every_topic(crawled):
    _, thresher = crawled
    by_title = {row["title"]: row for row in rows(thresher)}
    assert by_title["tea 3"]["topics"]["tea"] > 0.5 > by_title["tea 3"]["topics"]["solar"]
    assert by_title["solar 3"]["topics"]["solar"] > 0.5 > by_title["solar 3"]["topics"]["tea"]
    assert by_title["tea 3"]["relevance"] == pytest.approx(by_title["tea 3"]["topics"]["tea"])
    assert not by_title["news 3"]["relevant"]


def test_a_ranked_list_for_each_topic(crawled):
    _, thresher = crawled
    tea = rows(thresher, "--by-topic", "tea", "--relevant")
    assert {row["title"].split()[0] for row in tea} <= {"tea", "both"}
    assert [row["relevance"] for row in tea] == [row["topics"]["tea"] for row in tea]
    assert [row["relevance"] for row in tea] == sorted((row["relevance"] for row in tea), reverse=True)
    refused = thresher("export", "two", "--by-topic", "coffee")
    assert refused.returncode == 4
    assert "its topics are solar, tea" in refused.stderr


def test_a_page_of_two_topics_counts_once_in_all_and_once_in_each(crawled):
    _, thresher = crawled
    numbers = json.loads(thresher("status", "two", "--json").stdout)
    of = {name: {row["url"] for row in rows(thresher, "--by-topic", name, "--relevant")} for name in ("solar", "tea")}
    assert {name: each["relevant"] for name, each in numbers["topics"].items()} == {
        n: len(urls) for n, urls in of.items()
    }
    assert numbers["relevant"] == len(of["solar"] | of["tea"]) == len(rows(thresher, "--relevant"))
    assert f"topic  tea: {len(of['tea'])} relevant" in thresher("status", "two").stdout


def test_a_redirected_seed_teaches_its_own_topic(crawled):
    site, thresher = crawled
    [start] = [row for row in rows(thresher) if row["url"] == site.url("/tea")]
    assert start["topics"]["tea"] > 0.5 > start["topics"]["solar"]


def test_a_run_ends_when_every_topic_has_its_pages(tmp_path):
    thresher = CommandLine(tmp_path)
    with serving() as site:
        site.pages, site.seconds = {**PAGES, **many("tea", TEA, 200), **many("solar", SOLAR, 200)}, 0.02
        new(thresher, site, tmp_path, solar={"pages": 4}, tea={"pages": 6})
        quick(tmp_path / "two", engine="{concurrency: 1, timeout_seconds: 2, lease_seconds: 8}")
        ran = thresher("run", "two")
        assert ran.returncode == 0, ran.stderr
        assert "every topic has its pages" in ran.stderr.lower()
        numbers = json.loads(thresher("status", "two", "--json").stdout)
        assert numbers["ended"]["code"] == "topics"
        assert numbers["topics"]["solar"]["relevant"] >= 4
        assert numbers["topics"]["tea"]["relevant"] >= 6
        assert numbers["pages"] < 200
        assert ": complete" in thresher("status", "two").stdout


def test_a_second_run_goes_on_with_what_each_topic_learned(tmp_path):
    thresher = CommandLine(tmp_path)
    with serving() as site:
        site.pages = dict(PAGES)
        new(thresher, site, tmp_path)
        assert thresher("run", "two", "--pages", 12).returncode == 0
        ran = thresher("run", "two")
        assert ran.returncode == 0, ran.stderr
        by_title = {row["title"]: row for row in rows(thresher)}
    assert by_title["tea 11"]["topics"]["tea"] > 0.5 > by_title["tea 11"]["topics"]["solar"]
    assert by_title["solar 11"]["topics"]["solar"] > 0.5
    names = {path.name.partition("@")[2] for path in (tmp_path / "two" / "model").rglob("*@*")}
    assert names == {"solar", "tea"}


def test_a_crawl_on_a_store_counts_and_balances_each_topic_over_workers_and_runs(tmp_path):
    thresher = CommandLine(tmp_path)
    with store_server("redis", tmp_path / "store") as store, serving() as site:
        site.pages = dict(PAGES)
        new(thresher, site, tmp_path)
        for limit in (["--pages", 12], []):
            ran = thresher("run", "two", "--store", store.url, "--workers", 2, *limit)
            assert ran.returncode == 0, ran.stderr
        numbers = json.loads(thresher("status", "two", "--json").stdout)
        found = {name: len(rows(thresher, "--by-topic", name, "--relevant")) for name in ("solar", "tea")}
        published = asyncio.run(published_counts(store.url))
    assert {name: each["relevant"] for name, each in numbers["topics"].items()} == published == found
    assert min(found.values()) > 6
    assert len(site.paths) == len(set(site.paths))


async def published_counts(url):
    """Read the numbers that workers compute the needs of topics from."""
    frontier = RedisFrontier(url, crawl="two")
    try:
        return await read_topic_counts(frontier)
    finally:
        await frontier.close()


def test_a_new_crawl_takes_over_the_topics_with_their_own_hubs(crawled):
    _, thresher = crawled
    made = thresher("new", "again", "--from", "two", "--hubs", 3)
    assert made.returncode == 0, made.stderr
    again = CrawlSetup.open(thresher.folder / "again")
    assert {name: topic.title for name, topic in again.config.topics.items()} == {
        "solar": {"und": "perovskite solar"},
        "tea": {"en": "green tea"},
    }
    relevant = {
        name: {row["url"] for row in rows(thresher, "--by-topic", name, "--relevant")} for name in again.config.topics
    }
    for name, urls in relevant.items():
        assert again.topic_seeds(name)
        assert set(again.topic_seeds(name)) <= urls
    assert thresher("new", "tea", "--from", "two", "--topic", "green tea").returncode == 0
    assert CrawlSetup.open(thresher.folder / "tea").seeds()


def test_why_names_the_topics_with_their_probabilities(crawled):
    site, thresher = crawled
    reported = thresher("why", "two", site.url("/tea3"), "--details").stdout
    assert "Relevant to tea: 0." in reported or "Relevant to tea: 1." in reported
    assert "Relevance by topic:" in reported
    assert "for tea " in reported
    answer = json.loads(thresher("why", "two", site.url("/tea3"), "--json", "--details").stdout)["details"]
    assert answer["path"][-1]["topics"]["tea"] > 0.5 > answer["path"][-1]["topics"]["solar"]


def test_a_label_for_one_topic_leaves_the_other_as_it_was(tmp_path):
    thresher = CommandLine(tmp_path)
    with serving() as site:
        site.pages = dict(PAGES)
        new(thresher, site, tmp_path)
        assert thresher("run", "two").returncode == 0

        def both():
            return next(row for row in rows(thresher) if row["title"] == "both")["topics"]

        before = both()
        refused = thresher("label", "two", "--no", site.url("/both"), "--topic", "coffee")
        assert refused.returncode == 4
        labelled = thresher("label", "two", "--no", site.url("/both"), "--topic", "tea")
        assert labelled.returncode == 0, labelled.stderr
        assert both()["tea"] == 0.0
        assert both()["solar"] == pytest.approx(before["solar"], abs=0.2)
        assert thresher("label", "two", "--yes", site.url("/both")).returncode == 0
        assert both() == {"solar": 1.0, "tea": 1.0}


def test_questions_about_one_topic_are_about_pages_near_its_own_cut(tmp_path):
    thresher = CommandLine(tmp_path)
    with serving() as site:
        site.pages = dict(PAGES)
        new(thresher, site, tmp_path)
        assert thresher("run", "two").returncode == 0
    crawl = CrawlSetup.open(tmp_path / "two")
    with PageStoreReader(crawl.folder.pages) as collection:
        ranked = [record.relevance for record in collection.ranked(topic="tea")]
    [question] = asyncio.run(questions(crawl, 1, topic="tea"))
    assert (question.record.relevance, question.pages) == (ranked[question.rank - 1], len(ranked))
    for topic, is_left in (("solar", True), ("tea", False)):
        asyncio.run(add_labels(crawl, {question.record.url: False}, topic=topic))
        asked = asyncio.run(questions(crawl, len(ranked), topic="tea"))
        assert (question.record.url in {each.record.url for each in asked}) == is_left


def test_a_search_is_narrowed_to_one_topic(crawled):
    _, thresher = crawled
    found = json.loads(thresher("search", "two", "number", "--topic", "tea", "-n", 50, "--json").stdout)
    assert found
    assert {result["title"].split()[0] for result in found} <= {"tea", "both"}
    assert thresher("search", "two", "number", "--topic", "coffee").returncode == 4


def test_python_sees_each_topic(crawled):
    _, thresher = crawled
    crawl = Crawl(thresher.folder / "two")
    assert crawl.topics == ["solar", "tea"]
    by_topic = crawl.pages_by_topic()
    assert {topic.name: topic.relevant for topic in crawl.status().topics} == {n: len(p) for n, p in by_topic.items()}
    first = next(iter(by_topic["tea"]))
    assert first.relevance == first.topics["tea"] > 0.5
    table = by_topic["tea"].to_arrow().to_pylist()
    assert json.loads(table[0]["topics"]).keys() == {"solar", "tea"}
    assert all(page.title.split()[0] in ("tea", "both") for page in crawl.search("number", topic="tea", limit=50))
    with pytest.raises(ConfigError, match="its topics are solar, tea"):
        crawl.pages(topic="coffee")
    written = thresher("export", "two", "-f", "csv").stdout.splitlines()
    assert written[0].endswith(",topics")


async def test_the_dashboard_counts_and_lists_each_topic(crawled):
    _, thresher = crawled
    crawl = CrawlSetup.open(thresher.folder / "two")
    open_crawl = OpenCrawl(crawl, "two")
    try:
        shown = await status(open_crawl)
        tea = await pages(open_crawl, topic="tea", order="relevance", limit=5)
        newest = await pages(open_crawl, topic="tea", limit=500)
        with pytest.raises(ConfigError, match="no topic 'coffee'"):
            await pages(open_crawl, topic="coffee")
    finally:
        await open_crawl.close()
    relevant = {each["name"]: each["relevant"] for each in shown["topics"]}
    assert relevant["tea"] == len(rows(thresher, "--by-topic", "tea", "--relevant"))
    assert tea["more"]
    assert [page["relevance"] for page in tea["pages"]] == [page["topics"]["tea"] for page in tea["pages"]]
    times = [page["fetched_at"] for page in newest["pages"]]
    assert times == sorted(times, reverse=True)
    assert len(times) == relevant["tea"]
