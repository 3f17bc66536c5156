"""Forty pages around ten targets: hubs lead to them, fronts lead to hubs, and others lead nowhere near."""

from thresher.linkgraph import LinkGraph
from thresher_papers.strategies.layers.source import ELSEWHERE

TARGETS, HUBS, FRONTS, OTHERS = range(10), range(10, 20), range(20, 30), range(30, 40)
WORDS = {"target": "solar cell panel", "hub": "directory index list", "front": "welcome news home", "other": "tea leaf"}


class SmallSource:
    """Pages in rings; a page knows its kind by its words."""

    def __init__(self):
        links = {page: [] for page in range(40)}
        for n in range(10):
            links[10 + n] = [(n, f"solar cell {n}"), ((n + 1) % 10, "solar panel"), (ELSEWHERE, "advert")]
            links[20 + n] = [(10 + n, "energy directory"), (30 + n, "tea")]
            links[30 + n] = [(30 + (n + 1) % 10, "more tea")]
        self._links = links
        edges = [(page, target) for page, found in links.items() for target, _ in found]
        self.graph = LinkGraph.from_edges(40, edges)

    def text(self, page):
        kind = list(WORDS)[page // 10]
        return f"{WORDS[kind]} common words {'again ' * (page % 3)}"

    def links(self, page):
        return iter(self._links[page])
