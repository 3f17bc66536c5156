"""What judging a page costs beside parsing it: ``python -m bench.speed.judging``.

One process, pages of 25 to 35 KB: made ones always, and real ones of wikispeedia (English) and w3school_zh (Chinese)
when THRESHER_WEBS is set. Each judge reads 600 pages as in a crawl, learning and its refits included; CPU milliseconds
per page, the median of three runs, each with its own parsing beside it. `--answers N` gives the adaptive judge N pages
of wikispeedia and then labels, one at a time; CPU milliseconds per label.
"""

from __future__ import annotations

import argparse
import gc
import os
import time
from collections.abc import Sequence
from statistics import median

from thresher import registry
from thresher.judges.base import Learner
from thresher.parsing.html import parse
from thresher.records import ParsedPage
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition
from thresher_lab.webs.open_web import open_web

SMALLEST, LARGEST = 25_000, 35_000
JUDGES = ("cosine", "match", "adaptive", "itfidf", "svm")
SEEDS = 5


def made_pages(most: int) -> list[tuple[str, bytes]]:
    from testing.recording_server.site import Site

    site = Site(pages=most, hosts=20, page_bytes=30 * 1024, links=60)
    return [(f"http://h{number % 20}.example/{number}", site.render(number, 80)) for number in range(most)]


def real_pages(web_name: str, most: int) -> list[tuple[str, bytes]]:
    web = open_web(web_name)
    found = []
    for number in range(len(web)):
        url = web.url_of(number)
        source = web.get(url)
        if source and SMALLEST <= len(source.body) <= LARGEST:
            found.append((url, source.body))
            if len(found) >= most:
                break
    return found


def cost(name: str, phrase: str, sources: Sequence[tuple[str, bytes]]) -> tuple[float, float]:
    """Return CPU milliseconds per page of parsing and of judging."""
    seeds = frozenset(url for url, _ in sources[:SEEDS])
    topic_profile = TopicProfile(phrases=[phrase], vectors=TopicDefinition.from_phrase(phrase).vectors(), seeds=seeds)
    judge = registry.make("judge", name, {}, topic_profile)
    gc.collect()
    started = time.process_time()
    pages: list[ParsedPage] = [parse(url, body, "text/html") for url, body in sources]
    parsed = time.process_time()
    gc.freeze()  # a worker does not hold all pages of its crawl
    judging = time.process_time()
    for page in pages:
        if isinstance(judge, Learner):
            judge.learn(page, seed=page.url in topic_profile.seeds)
        judge.judge(page)
    judged = time.process_time()
    gc.unfreeze()
    return 1000 * (parsed - started) / len(pages), 1000 * (judged - judging) / len(pages)


def answer_cost(count: int, labels: int = 20) -> list[float]:
    """Return CPU milliseconds of each label, after a number of pages."""
    web = open_web("wikispeedia")
    urls = [web.url_of(number) for number in range(min(count, len(web)))]
    vectors = TopicDefinition.from_phrase("British history").vectors()
    profile = TopicProfile(phrases=["British history"], vectors=vectors, seeds=frozenset(urls[:SEEDS]))
    judge = registry.make("judge", "adaptive", {}, profile)
    for url in urls:
        if source := web.get(url):
            judge.learn(parse(url, source.body, "text/html"), seed=url in profile.seeds)
    taken = []
    for number, url in enumerate(urls[SEEDS :: max(1, len(urls) // labels)]):
        started = time.process_time()
        judge.teach({url: number % 3 == 0})
        taken.append(1000 * (time.process_time() - started))
    return taken


def main() -> None:
    gc.set_threshold(20_000, 20, 20)  # as in a worker
    parser = argparse.ArgumentParser(prog="python -m bench.speed.judging", description="What judging a page costs.")
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--answers", type=int, metavar="N", help="labels, one at a time, after N pages")
    options = parser.parse_args()
    if options.answers:
        taken = sorted(answer_cost(options.answers))
        print(f"{options.answers} pages, {len(taken)} labels: median {median(taken):.0f} ms, worst {taken[-1]:.0f} ms")
        return
    sets = {"made": ("perovskite solar cells", made_pages(options.pages))}
    if os.environ.get("THRESHER_WEBS"):
        sets["wikispeedia"] = ("British history", real_pages("wikispeedia", options.pages))
        sets["w3school_zh"] = ("jQuery", real_pages("w3school_zh", options.pages))
    print("pages         judge      parse ms  judge ms")
    for name, (phrase, sources) in sets.items():
        for judge in options.judges.split(","):
            runs = [cost(judge, phrase, sources) for _ in range(options.runs)]
            parse_ms, judge_ms = median(run[0] for run in runs), median(run[1] for run in runs)
            print(f"{name:12}  {judge:9}  {parse_ms:8.2f}  {judge_ms:8.2f}   ({len(sources)} pages)")


if __name__ == "__main__":
    main()
