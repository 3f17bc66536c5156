"""Several virtual workers crawl one web: together what one would, whatever becomes of them, and always the same."""

import math
from collections import Counter
from typing import ClassVar

import pytest

from tests.unit.lab.small_web import SmallWeb, u
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.strategies.baselines import BreadthFirst
from thresher.strategies.best_first import BestFirst
from thresher.topics.profile import TopicProfile
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_lab.simulation.simulator import VirtualClock
from thresher_lab.simulation.tasks import PerfectJudge
from thresher_lab.simulation.virtual_workers import Fleet, FleetPlan, PolitenessAudit
from thresher_lab.webs.parsed_pages import ParsedPages

HOSTS = [f"h{number}.example" for number in range(6)]


def ring(pages=10):
    """Make hosts whose pages link to the next page and to the same page of the next host."""
    return SmallWeb(
        {
            u(str(number), host): (
                ["energy"] if number % 2 else [],
                f"page {number} of {host}",
                [u(str(number + 1), host), u(str(number), HOSTS[(place + 1) % len(HOSTS)])],
            )
            for place, host in enumerate(HOSTS)
            for number in range(pages)
        }
    )


def fleet(web, plan, *, parts=None, **more):
    clock = VirtualClock()
    frontier = MemoryFrontier(clock=clock, delay_seconds=plan.delay_seconds)
    return Fleet(
        web,
        ParsedPages(web, keep=False),
        plan,
        open_frontier=lambda: frontier,
        clock=clock,
        make_parts=parts or (lambda: (PerfectJudge(web, "energy"), BestFirst())),
        **more,
    )


async def crawl(web, plan, budget=1000, **more):
    return await fleet(web, plan, **more).run([u("0", HOSTS[0])], budget)


async def test_workers_fetch_every_page_once_and_share_the_work():
    web = ring()
    found = await crawl(web, FleetPlan(workers=3, slots=2))
    assert sorted(fetch.page_id for fetch in found.fetches if fetch.page_id >= 0) == list(range(len(web)))
    assert found.ran_dry
    assert set(found.workers) == {0, 1, 2}


async def test_a_budget_ends_the_crawl():
    found = await crawl(ring(), FleetPlan(workers=3), budget=7)
    assert len(found.fetches) == 7
    assert not found.ran_dry


async def test_the_same_seed_gives_the_same_crawl():
    plan = FleetPlan(workers=3, slots=2, life_seconds=20.0, delay_seconds=1.0, seed=5)
    first, second = [await crawl(ring(), plan) for _ in range(2)]
    assert first == second
    other = await crawl(ring(), FleetPlan(workers=3, slots=2, life_seconds=20.0, delay_seconds=1.0, seed=6))
    assert other.fetches != first.fetches


async def test_one_worker_goes_as_fast_as_its_slots_allow():
    chain = SmallWeb({u(str(number)): ([], f"page {number}", [u(str(number + 1))]) for number in range(20)})
    clock = VirtualClock()
    frontier = MemoryFrontier(clock=clock, leases_per_host=4)
    one = Fleet(
        chain,
        ParsedPages(chain, keep=False),
        FleetPlan(workers=1, fetch_seconds=2.0),
        open_frontier=lambda: frontier,
        clock=clock,
        make_parts=lambda: (PerfectJudge(chain, "energy"), BreadthFirst()),
    )
    found = await one.run([u("0")], 20)
    assert found.virtual_seconds == pytest.approx(40, rel=0.3)


async def test_hosts_are_left_alone_over_all_workers_though_some_die_and_some_are_late():
    audit = PolitenessAudit(delay_seconds=3.0, workers=4, look_seconds=0.0)
    plan = FleetPlan(workers=4, slots=3, delay_seconds=3.0, lease_seconds=10.0, life_seconds=30.0, stalls=0.1)
    web = ring()
    found = await crawl(web, plan, audit=audit)
    assert {fetch.page_id for fetch in found.fetches} >= set(range(len(web)))
    assert found.deaths > 3
    assert audit.expired > 3
    assert (audit.crowded, audit.hasty) == (0, 0)
    assert audit.best == audit.looked > 50


async def test_a_page_whose_worker_died_is_fetched_by_another():
    plan = FleetPlan(workers=3, lease_seconds=5.0, life_seconds=8.0, rest_seconds=4.0)
    web = ring()
    found = await crawl(web, plan)
    assert {fetch.page_id for fetch in found.fetches} >= set(range(len(web)))
    assert found.deaths > 0


class Counting(AdaptiveJudge):
    """Counts what it learned in each life."""

    lives: ClassVar[Counter[str]] = Counter()

    def load_state(self, state_store):
        super().load_state(state_store)
        Counting.lives["with memory" if self.pages_seen else "without"] += 1


async def test_who_is_born_again_goes_on_with_what_was_written_down():
    Counting.lives.clear()
    topic_profile = TopicProfile(vectors={"en": {"page": 1.0}}, seeds=frozenset([u("0", HOSTS[0])]))
    plan = FleetPlan(workers=2, life_seconds=15.0, lease_seconds=5.0)
    found = await crawl(ring(), plan, parts=lambda: (Counting(topic_profile), BestFirst()))
    assert found.deaths > 2
    assert Counting.lives["without"] <= 4
    assert Counting.lives["with memory"] >= found.deaths - 3


@pytest.mark.parametrize("shared", [True, False])
async def test_workers_learn_from_each_other_only_when_they_share(shared):
    topic_profile = TopicProfile(vectors={"en": {"page": 1.0}}, seeds=frozenset([u("0", HOSTS[0])]))
    team = fleet(ring(), FleetPlan(workers=3, shared=shared), parts=lambda: (AdaptiveJudge(topic_profile), BestFirst()))
    await team.run([u("0", HOSTS[0])], 60)
    known = [judge._languages["other"].sample for judge in team.judges]
    assert all((sample.seen_by_all > sample.seen) is shared for sample in known)
    if shared:
        assert min(sample.seen_by_all for sample in known) > 30
    assert math.isfinite(team.state_stores.largest["judge/sample-other"])
