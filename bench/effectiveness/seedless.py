"""Does a phrase alone find seeds as good as five given ones? ``python -m bench.effectiveness.seedless`` (needs
THRESHER_WEBS; a minute per topic, and some minutes once for the full-text index of a web).

Each topic is crawled by ``strategy: thresher`` with the default judge, 300 fetches, from the topic's name as a phrase
and four sets of seeds: five pages of the topic, as other benchmarks are given; the five seeds that ``thresher seeds``
proposes first for the phrase, from a SearXNG-compatible server on loopback over a plain full-text index of the same
web; of ten proposed, those that a user accepts who knows the labels, and nothing is found if there are none; and five
again, the phrase expanded by the bundled taxonomy. Candidates are asked for over HTTP by the real source, judged and
selected by the real code; their pages come from the frozen web instead of sockets. Fetches of candidates are not
counted among the 300, their number is in the row.

Relevant pages by the web's labels are counted. The oracle is that of the five given seeds for all starts. Rows are
added to ``bench/results/seedless.jsonl`` as they come; what is there is not run again. ``--print`` prints the tables.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from testing.seed_services.searxng import SearxngService
from testing.seed_services.text_index import IndexedPage, TextIndex
from thresher.config.folder import CrawlFolder
from thresher.crawl import CrawlSetup
from thresher.operations.create import NewCrawl, create_crawl
from thresher.operations.find_seeds import SeedLimits, SeedProposal, find_seeds
from thresher.records import FetchedPage
from thresher.seeding.base import SeedQuery, make_source
from thresher.topics.expansion import expand_by_taxonomy
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition
from thresher_lab.simulation.tasks import Task, TaskRunner, topic_phrase
from thresher_lab.simulation.topic_splits import Side, split
from thresher_lab.statistics import metrics
from thresher_lab.statistics.result_rows import Row, add_rows, read_rows
from thresher_lab.statistics.significance import Score, compare_paired
from thresher_lab.webs.virtualweb import Web
from thresher_lab.webs.webstore import cache_folder

PAGES, SEEDS = 300, 5
JUDGE = "adaptive"
RESULTS = Path(__file__).parents[1] / "results" / "seedless.jsonl"
GIVEN, FOUND, ACCEPTED, EXPANDED = "5 given seeds", "phrase", "phrase, a user accepts", "phrase, expanded"
SIDES: tuple[Side, ...] = ("test", "dev")
STARTS = (GIVEN, FOUND, ACCEPTED, EXPANDED)
PROPOSED = SeedLimits(number=10, per_host=10)
"""What a user chooses from."""
TOPICS: dict[str, dict[Side, int]] = {
    "wikispeedia": {"dev": 8, "test": 8},
    "mdn_zh": {"dev": 4, "test": 4},
    "archipelago": {"dev": 6, "test": 8},
}
"""Number of topics of each web, in the order of the split; of the archipelago some of each island."""

_DROPPED = re.compile(r"<(script|style)\b[^>]*>.*?</\1>", re.DOTALL | re.IGNORECASE).sub
_TAGS = re.compile(r"<[^>]*>").sub


@dataclass(frozen=True, kw_only=True)
class SeedlessTask:
    """One crawl: a topic, and where its seeds come from."""

    web: str
    topic: str
    start: str


class SeedlessRunner(TaskRunner):
    """A web whose crawls get the topic as `profile` has it."""

    profile: TopicProfile

    def topic_profile(self, topic: str) -> TopicProfile:
        return self.profile

    def measured(self, task: SeedlessTask, engine: str) -> Row:
        """Find the seeds, crawl, and measure."""
        topic = TopicDefinition.from_phrase(topic_phrase(task.topic))
        if task.start == EXPANDED and (expansion := expand_by_taxonomy(topic)):
            topic = expansion.apply(topic)
        phrases = [*topic.title.values(), *topic.keywords]
        self.profile = TopicProfile(vectors=topic.vectors(), labels=topic.labels, phrases=phrases)
        crawl = Task(
            web=task.web, topic=task.topic, strategy="thresher", seed_set=0, judge=JUDGE, pages=PAGES, seeds=SEEDS
        )
        given, targets = self.seeds(crawl), self.web.targets(task.topic)
        limits = PROPOSED if task.start == ACCEPTED else SeedLimits(number=SEEDS)
        proposal = None if task.start == GIVEN else propose(self.web, topic, engine, limits)
        seeds = given if proposal is None else pages_of(self.web, proposal)
        seeds = [seed for seed in seeds if seed in targets] if task.start == ACCEPTED else seeds
        hits = self._hits(crawl, seeds, targets) if seeds else [False]
        oracle = self.oracle(targets, tuple(given), PAGES, frozenset())
        return {
            **asdict(task),
            "pages": PAGES,
            "targets": len(targets),
            "seeds": len(seeds),
            "seeds_on_topic": len(targets.intersection(seeds)),
            "candidates": proposal.fetched if proposal else 0,
            "keywords": len(topic.keywords),
            "found": sum(hits),
            "harvest_rate": sum(hits) / PAGES,
            "percent_of_oracle": metrics.percent_of_oracle(hits, oracle.hits, PAGES),
        }

    def _hits(self, crawl: Task, seeds: Sequence[int], targets: frozenset[int]) -> list[bool]:
        run = self.simulator(crawl, seeds).run(list(map(self.web.url_of, seeds)), PAGES)
        return [fetch.page_id in targets for fetch in asyncio.run(run).fetches]


def propose(web: Web, topic: TopicDefinition, engine: str, limits: SeedLimits) -> SeedProposal:
    """Find seeds by the code of ``thresher seeds``; only the pages of candidates come from the frozen web."""

    def fetch(_: CrawlSetup, urls: Sequence[str]) -> Mapping[str, FetchedPage | str]:
        return {url: _fetched(web, url) for url in urls}

    with tempfile.TemporaryDirectory() as folder:
        new = NewCrawl(topic=topic, contact="me@example.org", settings={"politeness": {"delay_seconds": 0.0}})
        create_crawl(CrawlFolder(Path(folder)), new)
        crawl = CrawlSetup.open(Path(folder))
        name, source = make_source(f"searxng={engine}", crawl.config)
        return find_seeds(crawl, SeedQuery.of(topic), {name: source}, fetch=fetch, limits=limits)


def _fetched(web: Web, url: str) -> FetchedPage | str:
    page = web.get(url)
    if page is None:
        return "HTTP 404"
    headers = {"content-type": page.content_type}
    return FetchedPage(url=url, status=200, headers=headers, body=page.body, fetched_at=0.0)


def pages_of(web: Web, proposal: SeedProposal) -> list[int]:
    """Return the numbers of the proposed seeds."""
    return [number for seed in proposal.seeds if (number := web.page_id(seed.url)) is not None]


def open_index(web: Web) -> TextIndex:
    """Open the full-text index of a web; it is built the first time."""
    index = TextIndex(cache_folder(None) / f"{web.name}-{len(web)}-seedless.fts")
    if not len(index):
        pages = (page for url in web.urls() if (page := web.get(url)))
        index.add(IndexedPage(url=page.url, title=page.title, text=_plain(page.html)) for page in pages)
    return index


def _plain(markup: str) -> str:
    return html.unescape(_TAGS(" ", _DROPPED(" ", markup)))


def tasks_of(web: str, side: Side, number: int) -> list[SeedlessTask]:
    """Return the crawls of the first topics of a side; of the archipelago the islands by turns."""
    topics = split(web, side)
    if web == "archipelago":
        islands: dict[str, list[str]] = {}
        for topic in topics:
            islands.setdefault(topic.partition("/")[0], []).append(topic)
        rounds = max(map(len, islands.values()))
        topics = [own[turn] for turn in range(rounds) for own in islands.values() if turn < len(own)]
    return [SeedlessTask(web=web, topic=topic, start=start) for start in STARTS for topic in topics[:number]]


def measure(tasks: Sequence[SeedlessTask]) -> None:
    """Run the crawls that have no row yet."""
    known = {(row["web"], row["topic"], row["start"]) for row in read_rows(RESULTS)} if RESULTS.exists() else set()
    missing = [task for task in tasks if (task.web, task.topic, task.start) not in known]
    RESULTS.touch()
    for web in dict.fromkeys(task.web for task in missing):
        with ExitStack() as opened:
            runner = SeedlessRunner.open(web)
            engine = opened.enter_context(SearxngService(open_index(runner.web)).serving())
            for task in [task for task in missing if task.web == web]:
                row = runner.measured(task, engine)  # type: ignore[attr-defined]
                add_rows(RESULTS, [row])
                print(f"{web} {task.topic}, {task.start}: {row['found']}", flush=True)
            runner.flush()


def table(rows: Sequence[Row], heading: str) -> Iterator[str]:
    """Write the lines of a table over topics."""
    yield f"**{heading}, {len({(row['web'], row['topic']) for row in rows})} topics**"
    yield ""
    yield "| start | seeds on topic | % of oracle area | relative | harvest | relative |"
    yield "|---|---|---|---|---|---|"
    topics = {start: [row for row in rows if row["start"] == start] for start in STARTS}
    means = {start: _means(own) for start, own in topics.items() if len(own) == len(topics[GIVEN])}
    for start, (on_topic, area, harvest) in means.items():
        _, given_area, given_harvest = means[GIVEN]
        yield (
            f"| {start} | {on_topic:.1f} | {area:.1f} | {area / given_area:.0%} | {harvest:.3f} "
            f"| {harvest / given_harvest:.0%} |"
        )
    yield ""
    scores = [
        Score(strategy=row["start"], topic=f"{row['web']} {row['topic']}", seed_set=0, value=row["percent_of_oracle"])
        for row in rows
        if row["start"] in means
    ]
    for each in compare_paired(scores, GIVEN):
        if each.strategy != GIVEN:
            gap = each.difference
            yield f"{each.strategy}: {gap.mean:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}] points, p (Holm) {each.p:.3g}"
    yield ""


def _means(rows: Sequence[Row]) -> tuple[float, float, float]:
    names = ("seeds_on_topic", "percent_of_oracle", "harvest_rate")
    on_topic, area, harvest = (sum(row[name] for row in rows) / len(rows) for name in names)
    return on_topic, area, harvest


def print_tables() -> None:
    """Print the tables of test and dev topics, over all webs and of each.

    Topics that lack one of the first two starts are left out; another start is printed if all topics of a table have
    it.
    """
    rows = read_rows(RESULTS)
    starts: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        starts.setdefault((row["web"], row["topic"]), set()).add(row["start"])
    complete = {topic for topic, own in starts.items() if {GIVEN, FOUND} <= own}
    for side in SIDES:
        topics = {(web, topic) for web in TOPICS for topic in split(web, side)} & complete
        chosen = [row for row in rows if (row["web"], row["topic"]) in topics]
        for web in ("", *TOPICS):
            if some := [row for row in chosen if web in ("", row["web"])]:
                print("\n".join(table(some, f"{web or 'all webs'}, {side} topics")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("webs", nargs="*", default=list(TOPICS), help="; ".join(TOPICS))
    parser.add_argument("--side", choices=SIDES, default="test")
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not options.print:
        measure([task for web in options.webs for task in tasks_of(web, options.side, TOPICS[web][options.side])])
    print_tables()


if __name__ == "__main__":
    main()
