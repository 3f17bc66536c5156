"""A page, its lease and its verdict in one line each, and a topic that knows its likenesses by heart."""

from thresher.records import Judgement, Lease, Link, ParsedPage

HERE = "http://a.example/dir/page"


class KnownAim:
    """An aim whose cosines are given: texts and URLs that it does not know are worth 0."""

    def __init__(self, similarity=None, urls=None):
        self._similarity = similarity or {}
        self._urls = urls or {}

    def similarity(self, text, language=""):
        return self._similarity.get(text, 0.0)

    def url_evidence(self, url):
        return self._urls.get(url, 0.0)


def page(*links, url=HERE, text=""):
    return ParsedPage(url=url, text=text, links=links)


def links(number, anchor=""):
    return [Link(url=f"http://a.example/{place}", anchor=anchor, position=place) for place in range(number)]


def lease(*, depth_left=3, strategy_data=None, url=HERE):
    return Lease(
        url=url,
        host="a.example",
        score=1.0,
        fence=1,
        until=0.0,
        depth_left=depth_left,
        strategy_data=strategy_data or {},
    )


def verdict(relevant, relevance=None, reward=None):
    worth = float(relevant) if relevance is None else relevance
    return Judgement(relevance=worth, relevant=relevant, reward=worth if reward is None else reward)


RELEVANT, IRRELEVANT = verdict(True), verdict(False)


def depths_of_an_irrelevant_path(strategy):
    """Follow one link after another over irrelevant pages; return the depth of each page that is fetched."""
    [seed] = strategy.seeds([HERE])
    depths = [seed.depth_left]
    while found := list(strategy.score(page(*links(1)), IRRELEVANT, lease(depth_left=depths[-1]))):
        depths.append(found[0].depth_left)
    return depths
