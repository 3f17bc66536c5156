"""Upper bounds know labels, but not the graph ahead, and what they know of a page they use once they have found it."""

import numpy as np
import pytest

from thresher.linkgraph import LinkGraph
from thresher_lab.simulation.bounds import (
    LABELS_KNOWN,
    READS_LINK_TEXT,
    READS_PARAGRAPH,
    Bounds,
    greedy_fetches,
    hub_score,
    weighted_share,
)


class Predictions:
    """The same predictions from either text, whatever the labels."""

    has_word_vectors = True

    def __init__(self, values=()):
        self._values = np.array(values)
        self.by_paragraph = self.by_link_text = self

    def predict(self, labels):
        return self._values


def crawl(graph, targets, seeds, budget=20, *, bound=LABELS_KNOWN, labels=None, predicted=()):
    bounds = Bounds(Predictions(predicted))
    return bounds.crawl(bound, graph, targets if labels is None else labels, targets, seeds, budget)


FAN = LinkGraph.from_edges(6, [(0, 1), (0, 2), (0, 3), (3, 4), (1, 5)])


def test_known_targets_are_fetched_first():
    found = crawl(FAN, [3, 4], [0])
    assert found.pages.tolist() == [0, 3, 4, 1, 2, 5]
    assert found.hits.tolist() == [False, True, True, False, False, False]


def test_labels_of_urls_that_are_not_found_yet_change_nothing():
    """Pages 4 and 5 lie behind 3 and 1; which of them is a target cannot be known before."""
    before_3, before_1 = crawl(FAN, [4], [0], 2), crawl(FAN, [5], [0], 2)
    assert before_3.pages.tolist() == before_1.pages.tolist() == [0, 1]


def test_a_target_is_not_fetched_before_a_page_links_to_it():
    graph = LinkGraph.from_edges(5, [(0, 1), (1, 2), (2, 3)])
    assert crawl(graph, [3, 4], [0]).pages.tolist() == [0, 1, 2, 3]


def test_while_no_target_is_known_the_page_with_relevant_parents_is_fetched():
    """Pages 2 and 3 are linked from seeds alike, but of the seeds only page 1 is relevant."""
    graph = LinkGraph.from_edges(6, [(0, 2), (0, 4), (1, 3), (1, 5)])
    assert crawl(graph, [1], [0, 1], 4).pages.tolist() == [0, 1, 3, 5]


def test_of_equal_pages_the_lowest_number_is_fetched():
    graph = LinkGraph.from_edges(4, [(0, 3), (0, 1), (0, 2)])
    assert crawl(graph, [0], [0]).pages.tolist() == [0, 1, 2, 3]


def test_seeds_are_fetched_first_in_their_order_and_within_the_budget():
    assert crawl(FAN, [4], [3, 1, 0], 2).pages.tolist() == [3, 1]
    assert crawl(FAN, [4], [3, 1], 3).pages.tolist() == [3, 1, 4]


def test_dead_links_are_never_fetched():
    graph = LinkGraph.from_edges(3, [(0, -1), (0, 1), (1, -1), (1, 2)])
    assert crawl(graph, [2], [0]).pages.tolist() == [0, 1, 2]


def test_pages_that_are_set_aside_are_no_hits():
    assert crawl(FAN, [4], [0], labels=[3, 4]).hits.sum() == 1


def test_a_smaller_budget_gives_the_beginning_of_the_same_crawl():
    random = np.random.default_rng(7)
    graph = LinkGraph.from_edges(300, random.integers(300, size=(900, 2)))
    targets = random.choice(300, size=60, replace=False)
    long = crawl(graph, targets, [0, 1], 200).pages.tolist()
    assert crawl(graph, targets, [0, 1], 50).pages.tolist() == long[:50]
    assert len(set(long)) == len(long)


def test_a_budget_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1 fetch, got 0"):
        crawl(FAN, [4], [0], 0)


@pytest.mark.parametrize("bound", [READS_PARAGRAPH, READS_LINK_TEXT])
def test_a_reader_fetches_what_it_predicts_to_be_relevant(bound):
    found = crawl(FAN, [3, 4], [0], bound=bound, predicted=[0.0, 0.2, 0.6, 0.4, 0.9, 0.1])
    assert found.pages.tolist() == [0, 2, 3, 4, 1, 5]


@pytest.mark.parametrize("bound", [READS_PARAGRAPH, READS_LINK_TEXT])
def test_a_reader_that_predicts_nothing_follows_relevant_parents(bound):
    graph = LinkGraph.from_edges(4, [(0, 2), (1, 3)])
    assert crawl(graph, [1], [0, 1], bound=bound, predicted=[0.1] * 4).pages.tolist() == [0, 1, 3, 2]


def test_labels_count_for_linked_pages_once_their_page_is_fetched():
    graph = LinkGraph.from_edges(5, [(0, 1), (0, 2), (1, 3), (2, 4)])
    worth = np.array([0.0, 1.0, 0.9, 0.0, 0.0])
    is_target = np.array([False, False, True, False, False])
    pages = greedy_fetches(graph, is_target, [0], 5, worth=worth, parents=weighted_share(1.0))
    assert pages.tolist() == [0, 1, 2, 4, 3]


def test_scores_by_parents_are_the_documented_formulas():
    relevant, linking = np.array([3.0]), np.array([8.0])
    assert hub_score(relevant, linking) == pytest.approx(3 / 9**0.5)
    assert weighted_share(2.5)(relevant, linking) == pytest.approx(2.5 * 3 / 9)
