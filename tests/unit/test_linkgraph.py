"""A link graph knows neighbours and distances both ways, and survives the disk."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import StoreError
from thresher.linkgraph import LinkGraph, one_of_each

DIAMOND = LinkGraph.from_edges(6, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
"""0 links to 3 over 1 and over 2, 3 links to 4; 5 stands alone."""


def walked_distances(edges, seeds, page_count):
    distances, queue = dict.fromkeys(seeds, 0), deque(seeds)
    while queue:
        page = queue.popleft()
        for head in sorted({head for tail, head in edges if tail == page and head >= 0}):
            if head not in distances:
                distances[head] = distances[page] + 1
                queue.append(head)
    return [distances.get(page, -1) for page in range(page_count)]


def test_successors_are_the_pages_linked_to():
    assert DIAMOND.successors(0).tolist() == [1, 2]
    assert DIAMOND.successors(4).tolist() == []


def test_predecessors_are_the_pages_that_link():
    assert DIAMOND.predecessors(3).tolist() == [1, 2]
    assert DIAMOND.predecessors(0).tolist() == []


def test_neighbours_are_ascending_and_counted_once():
    graph = LinkGraph.from_edges(3, [(0, 2), (0, 1), (0, 2)])
    assert graph.successors(0).tolist() == [1, 2]
    assert graph.link_count == 2


def test_dead_links_and_links_to_oneself_are_left_out():
    graph = LinkGraph.from_edges(2, [(0, -1), (0, 0), (0, 1), (1, -1)])
    assert (graph.page_count, graph.link_count) == (2, 1)


def test_arrays_and_pairs_build_the_same_graph():
    tails, heads = np.array([0, 0, 1, 2, 3]), np.array([1, 2, 3, 3, 4])
    for graph in (LinkGraph.from_arrays(6, tails, heads), LinkGraph.from_edges(6, np.column_stack([tails, heads]))):
        assert [graph.successors(page).tolist() for page in range(6)] == [[1, 2], [3], [3], [4], [], []]


def test_a_graph_may_have_no_links_and_no_pages():
    assert LinkGraph.from_edges(0, []).distances_from([]).tolist() == []
    assert LinkGraph.from_edges(2, []).distances_to([1]).tolist() == [-1, 0]


def test_edges_of_many_pages_come_with_their_tails():
    tails, heads = DIAMOND.edges_from(np.array([3, 5, 0], dtype=np.int32))
    assert list(zip(tails.tolist(), heads.tolist(), strict=True)) == [(3, 4), (0, 1), (0, 2)]


def test_reachable_pages_include_the_seeds():
    assert DIAMOND.reachable([1]).tolist() == [False, True, False, True, True, False]


def test_distances_from_several_seeds_are_to_the_nearest():
    assert DIAMOND.distances_from([0, 3]).tolist() == [0, 1, 1, 0, 1, -1]


def test_distances_to_targets_go_against_the_links():
    assert DIAMOND.distances_to([4]).tolist() == [3, 2, 2, 1, 0, -1]


def test_pages_may_be_named_by_numbers_in_any_order_or_by_a_mask():
    assert DIAMOND.numbers([4, 0, 4]).tolist() == [4, 0]
    assert DIAMOND.numbers({2}).tolist() == [2]
    assert DIAMOND.numbers(DIAMOND.reachable([3])).tolist() == [3, 4]
    assert DIAMOND.numbers([]).tolist() == []


@pytest.mark.parametrize("page", [-1, 6])
def test_a_page_that_does_not_exist_is_refused(page):
    for ask in (DIAMOND.successors, DIAMOND.predecessors, lambda page: DIAMOND.reachable([page])):
        with pytest.raises(ValueError, match=rf"pages must be 0 to 5, got {page}"):
            ask(page)


def test_a_mask_of_another_length_is_refused():
    with pytest.raises(ValueError, match="6 values, one per page, got 2"):
        DIAMOND.reachable(np.array([True, False]))


@pytest.mark.parametrize(("edge", "name"), [((0, 2), "heads"), ((2, 0), "tails"), ((-1, 0), "tails")])
def test_a_link_between_unknown_pages_is_refused(edge, name):
    with pytest.raises(ValueError, match=f"{name} must be pages 0 to 1"):
        LinkGraph.from_edges(2, [edge])


@given(edges=st.lists(st.tuples(st.integers(0, 11), st.integers(-1, 11))), seeds=st.sets(st.integers(0, 11)))
def test_distances_are_those_of_a_plain_walk(edges, seeds):
    graph = LinkGraph.from_edges(12, edges)
    turned = [(head, tail) for tail, head in edges if head >= 0]
    assert graph.distances_from(seeds).tolist() == walked_distances(edges, seeds, 12)
    assert graph.distances_to(seeds).tolist() == walked_distances(turned, seeds, 12)


def test_a_saved_graph_is_loaded_again(tmp_path):
    DIAMOND.save(tmp_path / "links.npz")
    loaded = LinkGraph.load(tmp_path / "links.npz")
    assert [loaded.successors(page).tolist() for page in range(6)] == [[1, 2], [3], [3], [4], [], []]


def test_the_file_has_exactly_the_given_name(tmp_path):
    DIAMOND.save(tmp_path / "links")
    assert [path.name for path in tmp_path.iterdir()] == ["links"]


def test_a_file_that_is_no_graph_is_refused(tmp_path):
    path = tmp_path / "links.npz"
    path.write_bytes(b"no graph")
    with pytest.raises(StoreError, match="is not a link graph"):
        LinkGraph.load(path)


def test_a_graph_cut_short_is_refused(tmp_path):
    path = tmp_path / "links.npz"
    DIAMOND.save(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(StoreError, match="is not a link graph"):
        LinkGraph.load(path)


def test_arrays_that_describe_no_graph_are_refused(tmp_path):
    path = tmp_path / "links.npz"
    np.savez(path, offsets=np.array([0, 2]), heads=np.array([0, 7]))
    with pytest.raises(StoreError, match="links must lead to pages 0 to 0"):
        LinkGraph.load(path)
    np.savez(path, offsets=np.array([0, 1]), heads=np.array([0, 0]))
    with pytest.raises(StoreError, match="offsets must rise from 0 to the number of links, 2"):
        LinkGraph.load(path)


def test_pickled_objects_are_never_loaded(tmp_path):
    path = tmp_path / "links.npz"
    np.savez(path, offsets=np.array([{}], dtype=object), heads=np.array([0]))
    with pytest.raises(StoreError, match="is not a link graph"):
        LinkGraph.load(path)


def test_a_missing_file_is_reported_as_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        LinkGraph.load(tmp_path / "links.npz")


def test_one_of_each_page_is_marked():
    pages = np.array([3, 1, 3, 3, 0], dtype=np.int32)
    marked = one_of_each(pages, np.empty(4, dtype=np.int32))
    assert sorted(pages[marked].tolist()) == [0, 1, 3]


def test_pagerank_by_hand():
    # 0 and 1 link to each other, 2 links to 0. With d = 0.5: r2 = 1/6, r1 = 1/6 + r0/2, r0 = 1/6 + r1/2 + r2/2.
    ranks = LinkGraph.from_edges(3, [(0, 1), (1, 0), (2, 0)]).pagerank(damping=0.5)
    assert ranks.tolist() == pytest.approx([4 / 9, 7 / 18, 1 / 6])


def test_the_surfer_of_pagerank_restarts_at_the_given_pages_even_from_pages_without_links():
    ranks = LinkGraph.from_edges(4, [(0, 1), (2, 3)]).pagerank(np.array([1, 0, 0, 0]))
    assert ranks.tolist() == pytest.approx([1 / 1.85, 0.85 / 1.85, 0, 0])
    assert ranks.sum() == pytest.approx(1)


@pytest.mark.parametrize("restart", [[1, 1], [1, -1, 0]])
def test_impossible_restarts_of_pagerank_are_refused(restart):
    with pytest.raises(ValueError, match="3 weights"):
        LinkGraph.from_edges(3, [(0, 1)]).pagerank(np.array(restart))
