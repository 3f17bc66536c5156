import random

from thresher_lab.simulation.memory_frontier.heap import LazyHeap


def test_the_least_key_comes_first():
    heap = LazyHeap()
    heap.push("b", 2.0, 1)
    heap.push("c", 2.0, 0)
    heap.push("a", 3.0, 0)
    assert [heap.first(), len(heap)] == ["c", 3]


def test_an_item_pushed_again_moves():
    heap = LazyHeap()
    heap.push("a", 1)
    heap.push("b", 2)
    heap.push("a", 3)
    assert (heap.first(), sorted(heap)) == ("b", ["a", "b"])


def test_an_item_taken_out_does_not_come_back():
    heap = LazyHeap()
    heap.push("a", 1)
    heap.push("a", 0)
    heap.remove("a")
    heap.remove("never in")
    assert (heap.first(), len(heap)) == (None, 0)


def test_what_is_left_behind_does_not_pile_up():
    heap = LazyHeap()
    numbers = random.Random(1)
    for _ in range(10_000):
        heap.push(numbers.randrange(10), numbers.random())
    assert len(heap) == 10
    assert len(heap._entries) < 40
