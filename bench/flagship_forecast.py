"""Does ``strategy: thresher`` know what is left? ``python -m bench.flagship_forecast`` (needs THRESHER_WEBS).

At some moments of each crawl, what it foresees beside what came true: relevant pages among all that waits,
and the share of relevant ones among the next hundred fetches.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from thresher.cli.show import echo_table
from thresher.lab.simulate import Simulator
from thresher.lab.splits import split
from thresher.lab.tasks import PERFECT, Bench, Task
from thresher.records import Forecast
from thresher.strategies.base import Change
from thresher.strategies.learned.forecast import NEXT
from thresher.strategies.thresher import Thresher

MOMENTS = (100, 200, 300, 500)


@dataclass(frozen=True)
class Foreseen:
    """What was foreseen after so many fetches, and what was true."""

    fetches: int
    forecast: Forecast
    waiting_targets: int


class Watched(Thresher):
    """The strategy, with somebody who knows what waits."""

    bench: Bench
    topic: str
    seen: list[Foreseen]

    def _sweep(self) -> dict[str, Change]:
        changes = super()._sweep()
        done = int(np.count_nonzero(self._known.urls["fetched"]))
        due = [moment for moment in MOMENTS[len(self.seen) :] if done >= moment]
        if due and self._forecast and self._pages_to_thought > 0:
            numbers = self._known.waiting()[0].tolist()
            pages = {self.bench.web.page_id(self._known.names[number]) for number in numbers}
            self.seen.append(Foreseen(done, self._forecast, len(pages & self.bench.web.targets(self.topic))))
        return changes


def watched(bench: Bench, topic: str, judge: str) -> Iterator[tuple[int, Foreseen, float]]:
    """Crawl a topic; give moments, what was foreseen, and the share of relevant pages that came next."""
    task = Task(web=bench.web.name, topic=topic, strategy="thresher", seed_set=0, judge=judge, pages=MOMENTS[-1] + NEXT)
    strategy = Watched(*bench.told(task))
    strategy.bench, strategy.topic, strategy.seen = bench, topic, []
    seeds = bench.seeds(task)
    simulator = Simulator(bench.web, bench.pages, judge=bench.judge(task, seeds), strategy=strategy)
    crawl = asyncio.run(simulator.run([bench.web.url_of(seed) for seed in seeds], task.pages))
    targets = bench.web.targets(topic)
    hits = [fetch.page_id in targets for fetch in crawl.fetches]
    for moment, each in zip(MOMENTS, strategy.seen, strict=False):
        yield moment, each, float(np.mean(hits[each.fetches : each.fetches + NEXT] or [0.0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webs", default="wikispeedia,w3school_zh")
    parser.add_argument("--judges", default=f"{PERFECT},adaptive")
    parser.add_argument("--side", choices=["dev", "test"], default="test")
    parser.add_argument("--topics", type=int, default=10)
    options = parser.parse_args()
    rows = []
    for web in options.webs.split(","):
        bench = Bench.open(web)
        for judge in options.judges.split(","):
            topics = split(web, options.side)[: options.topics]
            found = [seen for topic in topics for seen in watched(bench, topic, judge)]
            for moment in MOMENTS:
                now = [(each, came) for at, each, came in found if at == moment]
                left = [each.forecast.left for each, _ in now]
                true_left = [each.waiting_targets for each, _ in now]
                soon, came = [each.forecast.next_yield for each, _ in now], [came for _, came in now]
                wrong = np.abs(np.array(soon) - np.array(came))
                rows.append([
                    web, judge, moment, round(float(np.mean(left)), 1), round(float(np.mean(true_left)), 1),
                    round(float(np.mean(soon)), 2), round(float(np.mean(came)), 2), round(float(wrong.mean()), 2),
                ])  # fmt: skip
        bench.flush()
    columns = ["web", "judge", "after", "left, foreseen", "left, true", "next 100, foreseen", "true", "mean error"]
    echo_table(columns, rows)


if __name__ == "__main__":
    main()
