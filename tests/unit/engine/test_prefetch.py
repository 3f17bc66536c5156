"""Names of the next hosts are looked up before their turn, once a second."""

from testing.clock import Clock
from thresher.engine.lease_loop import DnsPrefetcher


class Queue:
    def __init__(self, clock, seconds=0.0):
        self.asked, self._clock, self._seconds = [], clock, seconds

    async def next_hosts(self, limit):
        self.asked.append(limit)
        if self._seconds:
            self._clock.now += self._seconds
        return ["a.example", "b.example:8080"]


class Resolver:
    def __init__(self, *, uses_dns=True):
        self.endpoints, self.uses_dns = [], uses_dns

    def prefetch(self, endpoints):
        self.endpoints.append(list(endpoints))


async def test_each_name_is_asked_for_once_and_not_more_often_than_every_second():
    clock, resolver = Clock(), Resolver()
    queue = Queue(clock)
    looking = DnsPrefetcher(queue, resolver, 4, clock=clock)
    await looking.prefetch()
    await looking.prefetch()
    assert resolver.endpoints == [[("a.example", 443), ("b.example", 8080)]]
    clock.now += 1.0
    await looking.prefetch()
    assert len(queue.asked) == 2


async def test_a_queue_that_is_slow_to_look_at_is_looked_at_less_often():
    clock = Clock()
    queue = Queue(clock, seconds=0.1)
    looking = DnsPrefetcher(queue, Resolver(), 4, clock=clock)
    await looking.prefetch()
    clock.now += 4.0
    await looking.prefetch()
    assert len(queue.asked) == 1  # 0.1 s is 2 % of 5 s
    clock.now += 1.0
    await looking.prefetch()
    assert len(queue.asked) == 2


async def test_where_all_names_lead_to_a_lab_nothing_is_looked_at():
    queue = Queue(Clock())
    await DnsPrefetcher(queue, Resolver(uses_dns=False), 4).prefetch()
    assert queue.asked == []
