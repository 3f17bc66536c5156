"""State stores in a shared store behave as those on a disk, and never block their writers."""

import time

import pytest

from testing.servers import store_server
from thresher.coordination.connection import connect_store
from thresher.coordination.model_exchange import FolderStateStores, SharedStateStores


class Place:
    """Opens state stores of one crawl, and closes them all."""

    def __init__(self, make):
        self._make = make
        self._opened = []

    def open(self, worker=""):
        self._opened.append(self._make(worker))
        return self._opened[-1]

    def close(self):
        for state_stores in self._opened:
            state_stores.close()


@pytest.fixture(params=["folder", "store"])
def place(request, tmp_path, redis_url):
    def in_store(worker):
        return SharedStateStores(connect_store(redis_url, patience_seconds=5), "solar", worker, poll_seconds=0.02)

    place = Place(in_store if request.param == "store" else lambda worker: FolderStateStores(tmp_path, worker))
    yield place
    place.close()


def eventually(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def test_what_is_written_is_read_again(place):
    first = place.open("w1")
    first.of("judge").write("sample", b"\x00pages\xff")
    assert first.of("judge").read("sample") == b"\x00pages\xff"
    assert first.close()
    assert place.open("w1").of("judge").read("sample") == b"\x00pages\xff"
    assert place.open("w2").of("judge").read("sample") is None
    assert place.open("w1").of("strategy").read("sample") is None


def test_the_last_entry_counts(place):
    first = place.open("w1")
    for number in range(100):
        first.of("judge").write("sample", b"%d" % number)
    assert first.close()
    assert place.open("w1").of("judge").read("sample") == b"99"


def test_others_are_read_once_until_they_write_again(place):
    one, two = place.open("w1").of("judge"), place.open("w2").of("judge")
    assert two.read_others("examples") == []
    one.write("examples", b"first")
    assert eventually(lambda: two.read_others("examples")) == [b"first"]
    time.sleep(0.1)
    assert two.read_others("examples") == []
    assert one.read_others("examples") == []
    one.write("examples", b"second!")
    assert eventually(lambda: two.read_others("examples")) == [b"second!"]


def test_without_a_name_nothing_is_written_and_the_fullest_entry_is_read(place):
    for worker, content in (("w1", b"few"), ("w2", b"many more")):
        state_stores = place.open(worker)
        state_stores.of("judge").write("sample", content)
        assert state_stores.close()
    reader = place.open()
    reader.of("judge").write("sample", b"nothing, and a lot of it")
    assert reader.of("judge").read("sample") == b"many more"
    assert len(reader.of("judge").read_others("sample")) == 2
    assert reader.of("judge").read("other") is None


def test_a_store_that_is_away_holds_up_nobody_and_gets_the_newest_entry_when_it_is_back(tmp_path):
    with store_server("redis", tmp_path) as server:

        def make(worker):
            return SharedStateStores(connect_store(server.url), "solar", worker, poll_seconds=0.02)

        writer = make("w1")
        store = writer.of("judge")
        assert store.read("sample") is None
        assert store.read_others("sample") == []
        server.kill()
        began = time.monotonic()
        for number in range(50):
            store.write("sample", b"%d" % number)
            assert store.read_others("sample") == []
        assert not writer.close(seconds=0.2)
        assert time.monotonic() - began < 10.0
        server.restart()
        late = make("w1")
        late.of("judge").write("sample", b"newest")
        assert late.close()
        reader = make("")
        assert reader.of("judge").read("sample") == b"newest"
        reader.close()
