"""Rows of crawls whose frontier is on a store: kills, a store that dies or falls silent, cuts, a bad network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from testing.faulty_crawl.fault_run import FaultOutcome, Setting, run_with_faults
from testing.faulty_crawl.scenario import Plan
from testing.faulty_crawl.scene import Scene
from testing.recording_server.site import Site
from tests.faults.table import Outcome

Misfortune = Callable[[Scene], object]

LEASE_SECONDS = 8.0
PAST_LEASE_SECONDS = LEASE_SECONDS + 10.0
WEATHERED_LEASE_SECONDS = 20.0
"""A lease that is to outlive a fetch must also outlive some journeys to the store and back."""
SETTLING_SECONDS = 2.0
"""Leases that a worker has in hand when its store falls silent are begun within so long."""
REDIS, VALKEY = Setting(store="redis"), Setting(store="valkey")
WAYS = ("both", "to", "from")


def calm(scene: Scene) -> None:
    """Nothing befalls the crawl."""


def at_random(misfortunes: Sequence[Misfortune]) -> Callable[[Scene], list[object]]:
    """Spread misfortunes at random over nine tenths of the site, one after another."""

    def scenario(scene: Scene) -> list[object]:
        pages = scene.plan.site.pages
        moments = sorted(scene.random.sample(range(pages // 20, pages * 9 // 10), len(misfortunes)))
        reported = []
        for requests, misfortune in zip(moments, misfortunes, strict=True):
            scene.await_requests(requests)
            reported.append(misfortune(scene))
        return reported

    return scenario


def killed(kills: int) -> Callable[[Scene], object]:
    """Kill workers, one at a time."""
    return at_random([Scene.kill_worker] * kills)


def everything_killed(kills: int) -> Callable[[Scene], object]:
    """Kill the run and all its workers."""
    return at_random([Scene.kill_everything] * kills)


def store_killed(kills: int, *, seconds: float, forget_seconds: float = 0.0) -> Callable[[Scene], list[object]]:
    """Kill the store and start it again; the tale tells how many settled pages it lost each time."""

    def misfortune(scene: Scene) -> int:
        return scene.kill_server(seconds, forget_seconds=forget_seconds)

    scenario = at_random([misfortune] * kills)

    def watched(scene: Scene) -> list[object]:
        scene.watch_log()
        return scenario(scene)

    return watched


def store_silent(times: int, seconds: float) -> Callable[[Scene], object]:
    """Let the store stand still."""
    return at_random([lambda scene: scene.stop_server(seconds)] * times)


def cut_off(ways: Sequence[str], seconds: float, *, workers: int | None, flap_seconds: float = 0.0) -> Misfortune:
    """Cut some workers off from the store, or all, once for each way."""

    def misfortune(way: str) -> Misfortune:
        return lambda scene: scene.cut(seconds, way, workers=workers, flap_seconds=flap_seconds)

    return at_random([misfortune(way) for way in ways])


def worker_stopped(times: int, seconds: float) -> Callable[[Scene], object]:
    """Let one worker stand still."""
    return at_random([lambda scene: scene.stop_worker(seconds)] * times)


def all_of_it(seconds: float) -> Callable[[Scene], object]:
    """Kill and stop workers and the run, silence and kill the store, cut the network: P2's tale."""
    misfortunes: list[Misfortune] = [
        Scene.kill_worker,
        lambda scene: scene.stop_worker(PAST_LEASE_SECONDS),
        lambda scene: scene.stop_server(seconds),
        Scene.kill_worker,
        lambda scene: scene.cut(PAST_LEASE_SECONDS, "both", workers=1),
        lambda scene: scene.cut(seconds, "from"),
        Scene.kill_everything,
        lambda scene: scene.cut(seconds, "both", flap_seconds=0.5),
        lambda scene: scene.kill_server(1.0),
        Scene.kill_worker,
    ]
    return at_random(misfortunes)


def started_in_silence(outcome: FaultOutcome) -> int:
    """Return how many requests were begun while the store could not be asked, some seconds into that."""
    settling_ns = int(SETTLING_SECONDS * 1e9)
    return sum(
        outcome.started_between(trouble.before_ns + settling_ns, trouble.after_ns) for trouble in outcome.troubles
    )


def r1() -> Outcome:
    """Kill one worker at a time."""
    plan = Plan(site=Site(pages=20_000, hosts=200), max_seconds=1800.0)
    return _outcome(run_with_faults(plan, killed(20)), "20 kills; ")


def r2() -> Outcome:
    """Kill the run and all its workers."""
    plan = Plan(site=Site(pages=5000, hosts=100), max_seconds=900.0)
    return _outcome(run_with_faults(plan, everything_killed(5)), "5 kills; ")


def r4() -> Outcome:
    """Kill the store; then let it also lose its last two seconds."""
    plan = Plan(site=Site(pages=6000, hosts=200), delay_seconds=0.1, max_seconds=900.0)
    killed_only = run_with_faults(plan, store_killed(5, seconds=5.0))
    powerless = run_with_faults(plan, store_killed(3, seconds=5.0, forget_seconds=2.0))
    outages = [trouble.seconds for trouble in [*killed_only.troubles, *powerless.troubles]]
    words = [
        f"killed 5 times: settled pages lost {killed_only.result}; {killed_only.words()}",
        f"killed 3 times, the last 2 s of its log gone: settled pages lost {powerless.result} at "
        f"{powerless.pages_per_second:.0f} pages/s, all found again; {powerless.words()}",
        f"outages of up to {max(outages):.1f} s",
    ]
    nothing_forgotten = killed_only.survived and killed_only.result == [0] * 5
    return Outcome(held=nothing_forgotten and powerless.kept_all and powerless.polite, figure=". ".join(words))


def r5() -> Outcome:
    """Let the store stand still for a minute."""
    plan = Plan(site=Site(pages=4000, hosts=200), delay_seconds=0.1, max_seconds=900.0)
    outcome = run_with_faults(plan, store_silent(2, 60.0))
    begun = started_in_silence(outcome)
    figure = f"requests begun later than {SETTLING_SECONDS:g} s into the silence: {begun}; "
    return Outcome(held=outcome.survived and not begun, figure=figure + outcome.words())


def r6() -> Outcome:
    """Cut one worker off past its lease, on each way; then all of them; then on and off."""
    plan = Plan(site=Site(pages=6000, hosts=200), delay_seconds=0.1, max_seconds=900.0)
    scenarios = {
        "one worker": cut_off(WAYS, PAST_LEASE_SECONDS, workers=1),
        "all": cut_off(WAYS, PAST_LEASE_SECONDS, workers=None),
        "on and off": cut_off(WAYS, PAST_LEASE_SECONDS, workers=None, flap_seconds=1.0),
    }
    outcome = {name: run_with_faults(plan, scenario) for name, scenario in scenarios.items()}
    words = [f"{name}: {one.words()}" for name, one in outcome.items()]
    return Outcome(held=all(one.survived for one in outcome.values()), figure=". ".join(words))


@dataclass(frozen=True)
class Weather:
    """How bad a network is: the time to the store and back, and the share of requests that meet a reset."""

    latency_seconds: float = 0.5
    reset_share: float = 0.05


def weathered(weather: Weather) -> Callable[[Scene], int]:
    """Crawl to the end in bad weather; the tale tells how many resets there were."""

    def scenario(scene: Scene) -> int:
        with scene.trouble("weather", scene.plan.workers):
            scene.proxy.set(latency_seconds=weather.latency_seconds, reset_share=weather.reset_share)
            scene.run.wait(scene.seconds_left)
        return scene.proxy.counts().resets

    return scenario


def r7() -> Outcome:
    """Crawl over a slow network that breaks."""
    site = Site(pages=4000, hosts=200)
    plan = Plan(site=site, delay_seconds=0.1, lease_seconds=WEATHERED_LEASE_SECONDS, max_seconds=900.0)
    fine, bad = run_with_faults(plan, calm), run_with_faults(plan, weathered(Weather()))
    ratio = bad.pages_per_second / fine.pages_per_second
    figure = (
        f"{bad.pages_per_second:.1f} pages/s against {fine.pages_per_second:.1f}: {ratio:.0%}; {bad.result} resets; "
    )
    return Outcome(held=bad.kept_all and bad.polite and fine.survived, figure=figure + bad.words())


def r11() -> Outcome:
    """Let one worker stand still past its lease."""
    plan = Plan(site=Site(pages=6000, hosts=200), delay_seconds=0.1, max_seconds=900.0)
    return _outcome(run_with_faults(plan, worker_stopped(5, PAST_LEASE_SECONDS)), "5 stops; ")


def p1() -> Outcome:
    """Nothing befalls the crawl, and its politeness are looked at."""
    plan = Plan(site=Site(pages=4000, hosts=200, skew=2.0), delay_seconds=0.2, max_seconds=600.0)
    return _manners(run_with_faults(plan, calm))


def p2() -> Outcome:
    """Look at the politeness while everything befalls the crawl."""
    plan = Plan(site=Site(pages=8000, hosts=200, skew=1.5), delay_seconds=0.2, max_seconds=1200.0)
    return _manners(run_with_faults(plan, all_of_it(5.0)))


def _outcome(outcome: FaultOutcome, before: str = "") -> Outcome:
    return Outcome(held=outcome.survived, figure=before + outcome.words())


def _manners(outcome: FaultOutcome) -> Outcome:
    troubles = ", ".join(trouble.kind for trouble in outcome.troubles)
    figure = (
        f"{outcome.words()}; {outcome.close_gaps:,} gaps under twice the delay, the shortest "
        f"{outcome.shortest_gap_seconds:.4f} s{'; ' if troubles else ''}{troubles}"
    )
    return Outcome(held=outcome.survived, figure=figure)
