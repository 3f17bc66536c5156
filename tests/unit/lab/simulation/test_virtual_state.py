"""State stores of virtual workers behave as those on disk do, only later."""

from thresher_lab.simulation.simulator import VirtualClock
from thresher_lab.simulation.virtual_workers import VirtualStateStores


def pair(**settings):
    clock = VirtualClock()
    state_stores = VirtualStateStores(clock, **settings)
    return clock, state_stores, state_stores.of("w1", "judge"), state_stores.of("w2", "judge")


def test_others_read_an_entry_once_it_has_arrived_and_once():
    clock, _, one, two = pair(delay_seconds=2.0)
    one.write("sample", b"first")
    assert two.read_others("sample") == []
    clock.now = 2.0
    assert two.read_others("sample") == [b"first"]
    assert two.read_others("sample") == []


def test_until_a_new_entry_arrives_the_one_before_is_read():
    clock, _, one, two = pair(delay_seconds=2.0)
    one.write("sample", b"first")
    clock.now = 3.0
    one.write("sample", b"second")
    assert two.read_others("sample") == [b"first"]
    clock.now = 5.0
    assert two.read_others("sample") == [b"second"]


def test_a_worker_reads_its_own_at_once_and_never_among_others():
    _, state_stores, one, _ = pair(delay_seconds=2.0)
    one.write("sample", b"own")
    assert state_stores.of("w1", "judge").read("sample") == b"own"
    assert state_stores.of("w1", "strategy").read("sample") is None
    assert one.read_others("sample") == []


def test_workers_that_share_nothing_keep_what_they_wrote():
    _, _, one, two = pair(shared=False)
    one.write("sample", b"own")
    assert (one.read("sample"), two.read_others("sample")) == (b"own", [])


def test_sizes_and_writes_are_counted():
    _, state_stores, one, two = pair()
    one.write("sample", b"12345")
    two.write("sample", b"123")
    assert (state_stores.largest, state_stores.writes) == ({"judge/sample": 5}, {"judge/sample": 2})
