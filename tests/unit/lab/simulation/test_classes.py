"""Classes in the lab: what teaches them is not what is measured, and a perfect judge knows them."""

import pytest

from tests.unit.lab.small_web import SmallWeb, u
from thresher.records import ParsedPage
from thresher_lab.simulation.classes import KnownClasses, train_0
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.simulation.training import TrainingSplit, training_split

TOPIC = "energy/solar"


def small_web():
    """Hubs lead to tea, coffee and solar pages; one page is of two topics."""
    hubs = [u(f"hub{n}") for n in range(8)]
    pages = {}
    for topic, word in ((TOPIC, "solar cell panel"), ("food/tea", "tea leaf pot"), ("food/coffee", "coffee bean cup")):
        own = [u(f"{word.split()[0]}{n}") for n in range(24)]
        pages |= {url: ([topic], f"{word} {n}", [hubs[n % 8], own[(n + 1) % 24]]) for n, url in enumerate(own)}
    everything = list(pages)
    pages |= {hub: ([], f"directory list {n}", everything[n::8]) for n, hub in enumerate(hubs)}
    pages[u("both")] = (["food/tea", TOPIC], "tea solar", [])
    pages[u("two")] = (["food/tea", "food/coffee"], "coffee coffee", [])
    return SmallWeb(pages)


def test_no_class_shows_wanted_pages_beside_the_training_targets():
    web = small_web()
    split = training_split(web, TOPIC, 0)
    examples = train_0(web, TOPIC, split)
    assert examples[TOPIC] == split.targets
    assert examples.keys() == {TOPIC, "food/tea", "food/coffee"}
    assert not frozenset().union(examples["food/tea"], examples["food/coffee"]) & web.targets(TOPIC)
    assert len(examples["food/tea"]) == 8  # 30 % of 25, without the page that is of both


def test_hidden_pages_teach_nothing():
    web = small_web()
    hidden = frozenset(web.targets("food/tea"))
    assert train_0(web, TOPIC, TrainingSplit(targets=frozenset({0}), hidden=hidden)).keys() == {TOPIC, "food/coffee"}


@pytest.mark.parametrize(
    ("name", "found"),
    [("solar1", TOPIC), ("tea1", "food/tea"), ("both", TOPIC), ("two", "food/coffee"), ("hub1", "guessed")],
)
def test_a_perfect_judge_knows_the_class_of_a_page_that_has_a_label(name, found):
    labels = [TOPIC, "food/tea", "food/coffee"]
    classes = KnownClasses(small_web(), labels, TOPIC, lambda page: {"guessed": 0.6, "food/coffee": 0.4})
    scores = classes(ParsedPage(url=u(name)))
    assert max(scores, key=scores.__getitem__) == found


@pytest.mark.parametrize("judge", ["perfect", "cosine"])
def test_rules_are_trained_and_crawl(judge, tmp_path):
    bench = TaskRunner(small_web(), cache=tmp_path)
    task = Task(web="small", topic=TOPIC, strategy="rules", seed_set=0, judge=judge, pages=100)
    row = bench.run(task)
    assert row["targets"] == 25 - 8
    assert row["recall"] > 0.9
    assert bench._ruled.cache_info().misses == 1
    bench.run(task)
    assert bench._ruled.cache_info().misses == 1
    bench.pages.close()


def test_nothing_of_the_hidden_pages_is_read(tmp_path, monkeypatch):
    bench = TaskRunner(small_web(), cache=tmp_path)
    hidden = frozenset(bench.web.targets("food/coffee"))
    read = []
    count = bench.words.of_text
    monkeypatch.setattr(bench.words, "of_text", lambda page: read.append(page) or count(page))
    bench._learn_rules(TrainingSplit(targets=frozenset(range(8)), hidden=hidden), TOPIC)
    assert read
    assert not hidden & set(read)
    bench.pages.close()
