"""Layers are least distances over back-links, within bounds."""

from tests.unit.papers.strategies.layers.small_source import FRONTS, HUBS, TARGETS, SmallSource
from thresher.linkgraph import LinkGraph
from thresher_papers.strategies.layers import context_graphs


def context_graph(graph, targets, **bounds):
    return context_graphs.context_graph(graph, targets, **bounds).layers


def test_layers_are_distances_to_the_nearest_target():
    assert context_graph(SmallSource().graph, TARGETS, N=2) == [list(TARGETS), list(HUBS), list(FRONTS)]


def test_layers_without_pages_are_empty():
    assert context_graph(SmallSource().graph, TARGETS, N=4)[3:] == [[], []]


def test_a_page_stands_in_its_nearest_layer_alone():
    graph = LinkGraph.from_edges(3, [(1, 0), (2, 1), (2, 0), (0, 2)])
    assert context_graph(graph, [0], N=2) == [[0], [1, 2], []]


def test_the_back_links_of_a_page_that_are_followed_are_limited():
    graph = LinkGraph.from_edges(101, [(page, 0) for page in range(1, 101)])
    assert len(context_graph(graph, [0], N=1)[1]) == 50
    assert len(context_graph(graph, [0], N=1, most_back_links=7)[1]) == 7


def test_the_pages_of_a_layer_are_limited_and_the_rest_does_not_come_back():
    graph = LinkGraph.from_edges(
        22, [*((page, 0) for page in range(1, 21)), *((page, page + 1) for page in range(1, 20))]
    )
    layers = context_graph(graph, [0], N=3, most_pages=5)
    assert [len(layer) for layer in layers] == [1, 5, 0, 0]


def test_the_draw_is_the_same_each_time():
    graph = LinkGraph.from_edges(101, [(page, 0) for page in range(1, 101)])
    assert context_graph(graph, [0]) == context_graph(graph, [0])
    assert context_graph(graph, [0]) != context_graph(graph, [0], random_state=1)


def test_the_layer_of_a_page_is_known_though_it_is_not_drawn():
    graph = LinkGraph.from_edges(101, [(page, 0) for page in range(1, 101)])
    found = context_graphs.context_graph(graph, [0], most_pages=5)
    assert len(found.layers[1]) == 5
    assert sum(layer == 1 for layer in found.layer_of.values()) == 50
