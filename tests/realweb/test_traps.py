"""A shop whose filters combine without end, beside sites with as many queries that are no trap: one crawl of all."""

from random import Random

import pytest

from testing.recording_server import Generated, page, recorder
from testing.recording_server.words import TOPIC_WORDS
from tests.faults.live import crawl

FILTERS = ("brand", "cell", "color", "price", "size", "sort")
VALUES = 6
MAX_PAGES = 60
"""Of the shop: as few as of a calendar."""
ITEMS = 80


def text(name):
    """Return text on the topic that no other page has."""
    random = Random(name)
    words = [f"{word} {random.getrandbits(40):x}" for word in random.choices(TOPIC_WORDS, k=60)]
    return f"Perovskite solar cells: {' '.join(words)}."


def shop(request):
    """Answer with a page that links to each value of each filter, added to those that are set."""
    chosen = dict(piece.split("=") for piece in request.query.split("&") if piece)
    options = [{**chosen, name: str(value)} for name in FILTERS for value in range(VALUES)]
    links = ["/shop?" + "&".join(f"{name}={value}" for name, value in sorted(option.items())) for option in options]
    return page(f"Solar shop {request.query}", text(request.target), links)


def archive(request):
    """Answer with an item by its number; the front page links to them all."""
    links = [f"/item?id={number}" for number in range(ITEMS)] if request.path == "/" else ["/"]
    return page(f"Solar item {request.query}", text(request.target), links)


def wiki(request):
    """Answer with an article that also links to its history, and to older versions of itself."""
    links = [f"/index.php?title=Cell_{number}" for number in range(ITEMS)]
    if len(request.query) == len("title=Cell_1"):
        title = request.query.partition("&")[0]
        views = ("action=history", "oldid=7", "oldid=7&diff=8", "action=edit&section=2", "printable=yes")
        links += [f"/index.php?{title}&{view}" for view in views]
    return page(f"Solar {request.query}", text(request.target), links)


SCRIPT = {
    f"{name}.test": {"/robots.txt": 404, **{path: Generated(f"tests.realweb.test_traps:{name}") for path in paths}}
    for name, paths in {"shop": ["/", "/shop"], "archive": ["/", "/item"], "wiki": ["/", "/index.php"]}.items()
}


@pytest.fixture(scope="module")
def requests():
    """The targets that were requested, by host."""
    scope = {"traps": "leave", "max_pages_per_host": 1000, "first_pages_per_host": 1000}
    settings = {"scope": scope, "judge": {"name": "cosine", "threshold": 0.1}}
    with recorder(SCRIPT) as w:
        result = crawl(w, [w.url(host) for host in SCRIPT], settings, seconds=120)
        assert result.exit_code == 0, result.stderr
        return {host: [hit.path for hit in w.hits(host)] for host in SCRIPT}


def test_combinations_of_filters_end_though_their_pages_are_on_topic(requests):
    assert len(requests["shop.test"]) <= MAX_PAGES


def test_every_value_of_every_filter_is_fetched_alone(requests):
    assert {f"/shop?{name}={value}" for name in FILTERS for value in range(VALUES)} <= {*requests["shop.test"]}


def test_an_archive_with_numbers_is_fetched_to_its_end(requests):
    assert {f"/item?id={number}" for number in range(ITEMS)} <= {*requests["archive.test"]}


def test_a_wiki_with_views_of_its_articles_is_fetched_to_its_end(requests):
    assert {f"/index.php?title=Cell_{number}" for number in range(ITEMS)} <= {*requests["wiki.test"]}
