"""Random histories of a crawl, run on a frontier and on the model side by side.

After every step both must answer alike. Three promises are also checked on their own, from what was seen from
outside, so that a mistake made twice (here and in the model) does not hide: fences rise, a host's leases are bounded,
and a host is left alone for its delay.
"""

import asyncio
import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from testing.clock import Clock
from tests.contract.frontier_model import Model
from thresher.frontier.base import AuditedFrontier, Merge
from thresher.reasons.legacy import legacy_reason
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import Candidate, Outcome, RequestKind, Settlement

HOSTS = ("a.example", "b.example", "c.example:8080")
URLS = tuple(f"http://{host}/{name}" for host in HOSTS for name in "123")

scores = st.sampled_from([0.0, 0.125, 0.25, 0.5, 0.75, 1.0])
delays = st.sampled_from([0.0, 3.0, 10.0])
picks = st.integers(0, 1_000)
candidates = st.lists(
    st.builds(
        Candidate,
        url=st.sampled_from(URLS),
        score=scores,
        strategy_data=st.sampled_from([{}, {"layer": 1}, {"words": ["大", 0.5, None]}]),
        depth_left=st.integers(0, 3),
        hops=st.integers(0, 3),
        redirects=st.integers(0, 1),
        parent=st.sampled_from([0, -(2**63), 2**63 - 1]),
        kind=st.sampled_from([RequestKind.PAGE, RequestKind.PAGE, RequestKind.SITEMAP, RequestKind.SEED]),
        for_host=st.just(""),
    ),
    max_size=6,
)
settings_of_a_frontier = st.fixed_dictionaries(
    {
        "merge": st.sampled_from(Merge),
        "leases_per_host": st.sampled_from([1, 2]),
        "waiting_per_host": st.sampled_from([2, 100]),
        "delay_seconds": st.sampled_from([0.0, 2.0]),
    }
)


class FrontierMachine(RuleBasedStateMachine):
    """One crawl. `open_store(folder, clock)` says on which store."""

    def __init__(self, open_store):
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="frontier-"))
        self.clock = Clock()
        self.store = open_store(self.folder, self.clock)
        self.held = []  # leases that a living worker holds
        self.gone = []  # leases that were settled, given back or lost
        self.reopenings = 0
        self.last_fence = 0
        self.free_at = {}  # when a host may be asked again, as seen from outside
        self.lease_ends = {}  # ends of the leases that nobody ended, by fence

    @initialize(settings=settings_of_a_frontier)
    def start(self, settings):
        self.settings = settings
        self.model = Model(**settings)
        self.frontier = self.store.open(**settings)

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    # Steps

    @rule(found=candidates)
    def add(self, found):
        found = self.links(found)
        assert self.run(self.frontier.add(found)) == self.model.add(found)

    @rule(
        limit=st.integers(1, 4), seconds=st.sampled_from([5.0, 30.0]), room=st.sampled_from([None, None, -1, 0, 1, 3])
    )
    def lease(self, limit, seconds, room=None):
        pages = None if room is None else self.model.pages_under_way() + room  # near the limit, or beyond it
        leases = self.run(self.frontier.lease(limit, seconds=seconds, worker="w", pages=pages))
        self.watch_leases(leases)
        self.compare_leases(leases, limit, seconds, pages)
        self.held += leases

    @rule(found=candidates)
    def add_and_lease(self, found):
        self.add(found)
        self.lease(4, 30.0)

    @precondition(lambda self: self.held or self.gone)
    @rule(pick=picks, number=st.integers(1, 3))
    def begin(self, pick, number):
        known = [*self.held, *self.gone]
        leases = [known[(pick + n) % len(known)] for n in range(number)]
        self.model.begin(leases, self.clock.now)
        self.run(self.frontier.begin(leases))

    @precondition(lambda self: self.held)
    @rule(
        pick=picks,
        outcome=st.sampled_from(Outcome),
        links=candidates,
        delay=delays,
        page=st.booleans(),
        relevant=st.booleans(),
        park=st.sampled_from([NO_REASON, NO_REASON, NO_REASON, NO_REASON, NO_REASON, legacy_reason("enough")]),
        content=st.integers(0, 2),
    )
    def commit(self, pick, outcome, links, delay, page, relevant, park, content):
        lease = self.held.pop(pick % len(self.held))
        settlement = Settlement(
            lease=lease,
            outcome=outcome,
            reason=NO_REASON if outcome is Outcome.DONE else Reason(ReasonKind.NO_ANSWER),
            links=self.links(links),
            delay_seconds=delay,
            page=page,
            relevant=relevant,
            park=park,
            content=content,
        )
        self.hand_in([settlement])

    @precondition(lambda self: self.held)
    @rule(parts=st.lists(st.tuples(st.sampled_from(Outcome), candidates, delays), min_size=3, max_size=3))
    def commit_all_and_one_twice(self, parts):
        settlements = []
        for n, lease in enumerate([*self.held, self.held[0]]):
            outcome, links, delay = parts[n % 3]
            settlements.append(
                Settlement(lease=lease, outcome=outcome, links=self.links(links), delay_seconds=delay, content=n % 3)
            )
        self.held = []
        self.hand_in(settlements)

    @precondition(lambda self: self.held)
    @rule(pick=picks, then=st.sampled_from(["commit", "release", "lease"]), links=candidates)
    def a_lease_ends(self, pick, then, links):
        lease = self.held.pop(pick % len(self.held))
        self.gone.append(lease)
        self.clock.now = max(self.clock.now, lease.until)
        if then == "commit":
            self.commit_in_vain(Settlement(lease=lease, outcome=Outcome.DONE, links=links, page=True))
        elif then == "release":
            self.run(self.frontier.release([lease], delay_seconds=5.0))
        else:
            self.lease(3, 30.0)

    @precondition(lambda self: self.gone)
    @rule(pick=picks, outcome=st.sampled_from(Outcome), links=candidates)
    def commit_what_is_not_held(self, pick, outcome, links):
        lease = self.gone[pick % len(self.gone)]
        if not self.model.holds(lease, self.clock.now):  # a dead worker's lease may not have ended yet
            self.commit_in_vain(
                Settlement(lease=lease, outcome=outcome, links=links, delay_seconds=50.0, park=legacy_reason("late"))
            )

    @precondition(lambda self: self.held)
    @rule(pick=picks, delay=delays)
    def release(self, pick, delay):
        lease = self.held.pop(pick % len(self.held))
        if self.model.holds(lease, self.clock.now):
            self.end(lease, delay)
        self.model.release([lease], delay, self.clock.now)
        self.run(self.frontier.release([lease, lease], delay_seconds=delay))
        self.gone.append(lease)

    @precondition(lambda self: self.held)
    @rule()
    def a_worker_dies(self):
        self.gone += self.held
        self.held = []

    @rule(host=st.sampled_from((*HOSTS, "unknown.example")), seconds=st.sampled_from([4.0, 5.0, 40.0, None]))
    def park(self, host, seconds):
        self.model.park(host, legacy_reason("no"), seconds, self.clock.now)
        self.run(self.frontier.park(host, legacy_reason("no"), seconds=seconds))

    @rule(host=st.sampled_from((*HOSTS, "never.example")))
    def unpark(self, host):
        self.model.unpark(host)
        self.run(self.frontier.unpark(host))

    @rule(changes=st.dictionaries(st.sampled_from((*HOSTS, "never.example")), st.integers(-2, 2), max_size=3))
    def adjust_relevant(self, changes):
        self.model.adjust_relevant(changes)
        self.run(self.frontier.adjust_relevant(changes))

    @rule(new_scores=st.dictionaries(st.sampled_from(URLS), scores, max_size=6))
    def rescore(self, new_scores):
        assert self.run(self.frontier.rescore(new_scores)) == self.model.rescore(new_scores)
        self.model.trim()

    @rule(new_scores=st.dictionaries(st.sampled_from(URLS), st.tuples(scores, scores), max_size=6))
    def rescore_unless_changed(self, new_scores):
        now = {url: pair[0] for url, pair in new_scores.items()}
        was = {url: pair[1] for url, pair in new_scores.items()}
        assert self.run(self.frontier.rescore(now, was=was)) == self.model.rescore(now, was)
        self.model.trim()

    @rule(seconds=st.sampled_from([1.0, 5.0, 31.0]))
    def time_passes(self, seconds):
        self.clock.now += seconds

    @precondition(lambda self: self.reopenings < 2)  # they take most of the time of a history
    @rule()
    def reopen(self):
        self.reopenings += 1
        self.run(self.frontier.close())
        self.frontier = self.store.open(**self.settings)

    # What is seen from outside

    def links(self, found):
        """Choose which of some links are found."""
        return found

    def compare_leases(self, leases, limit, seconds, pages):
        assert leases == self.model.lease(limit, seconds, self.clock.now, pages)

    def hand_in(self, settlements):
        now = self.clock.now
        for settlement in settlements:
            if self.model.holds(settlement.lease, now) and settlement.lease.fence in self.lease_ends:
                self.end(settlement.lease, settlement.delay_seconds)
        expected = self.model.commit(settlements, now)
        assert self.run(self.frontier.commit(settlements)) == expected
        self.gone += [settlement.lease for settlement in settlements]

    def commit_in_vain(self, settlement):
        assert self.run(self.frontier.commit([settlement])) == [False]

    def end(self, lease, delay):
        self.lease_ends.pop(lease.fence, None)
        self.free_at[lease.host] = max(self.free_at.get(lease.host, 0.0), self.clock.now + delay)

    def watch_leases(self, leases):
        now = self.clock.now
        for fence, (host, until) in list(self.lease_ends.items()):
            if until <= now:
                del self.lease_ends[fence]
                self.free_at[host] = max(self.free_at.get(host, 0.0), until)
        for lease in leases:
            assert lease.fence > self.last_fence, "a fence is greater than any before it"
            assert self.free_at.get(lease.host, 0.0) <= now, "a host is left alone for its delay"
            self.last_fence = lease.fence
            self.lease_ends[lease.fence] = (lease.host, lease.until)
            others = [host for host, _ in self.lease_ends.values() if host == lease.host]
            assert len(others) <= self.settings["leases_per_host"], "a host's open leases are bounded"

    @invariant()
    def both_answer_alike(self):
        if not hasattr(self, "model"):
            return
        now = self.clock.now
        counts, seconds, best = self.run(self.ask())
        assert counts == self.model.counts(now)
        assert seconds == self.model.seconds_to_next(now)
        assert best == self.model.peek(100)

    async def ask(self):
        return await self.frontier.counts(), await self.frontier.seconds_to_next(), await self.frontier.peek(100)

    def teardown(self):
        try:
            if hasattr(self, "model"):
                self.all_is_where_it_should_be()
        finally:
            if hasattr(self, "frontier"):
                self.run(self.frontier.close())
            self.loop.close()
            shutil.rmtree(self.folder)

    def all_is_where_it_should_be(self):
        for url in URLS:
            assert self.run(self.frontier.find(url)) == self.model.find(url)
        assert self.run(self.frontier.hosts()) == self.model.host_entries(self.clock.now)
        self.every_url_is_accounted_for()
        assert self.run(self.frontier.peek(2, below=0.75)) == self.model.peek(2, below=0.75)
        for content in (1, 2):
            assert self.run(self.frontier.content_owner(content)) == self.model.contents.get(content, 0)

    def every_url_is_accounted_for(self):
        absent = self.absent()
        assert self.run(self.frontier.absences(absent)) == self.model.absences(absent)
        if isinstance(self.frontier, AuditedFrontier):
            audit = self.run(self.frontier.audit())
            assert [each for each in audit.miscounts if each.kind != "pages"] == []  # some pages here have failed
            assert audit.unrecorded == 0

    def absent(self):
        """URLs of which the frontier is asked why it does not have them: known ones too, which were not evicted."""
        return URLS


class FreshLinksMachine(FrontierMachine):
    """No link leads to a URL that waits already. Then tiers do exactly what the model does."""

    @initialize(settings=settings_of_a_frontier)
    def start(self, settings):
        super().start({**settings, "waiting_per_host": 100})  # with less, nothing would be cold

    def links(self, found):
        waiting = {url.found.url for url in self.model.waiting()}
        return [candidate for candidate in found if candidate.url not in waiting]

    def absent(self):
        return [url for url in URLS if self.model.find(url) is None]  # the filters know the cold ones


class DamagedRunsMachine(FreshLinksMachine):
    """Files of the cold storage are damaged. Exactly their URLs are lost and counted; they can be found again."""

    @precondition(lambda self: list(self.folder.rglob("*.parquet")))
    @rule(pick=picks, size=st.sampled_from([0, 40, 200]), all_files=st.booleans())
    def damage(self, pick, size, all_files):
        files = sorted(self.folder.rglob("*.parquet"))  # replaced ones too
        for path in files if all_files else [files[pick % len(files)]]:
            path.write_bytes(path.read_bytes()[:size])
        self.run(self.frontier.close())
        self.frontier = self.store.open(**self.settings)  # runs that were read are remembered
        before = sum(self.run(self.frontier._lost_urls()).values())
        lost = [url.found.url for url in self.model.waiting() if self.run(self.frontier.find(url.found.url)) is None]
        check = self.run(self.frontier.check_runs(repair=True))
        assert sum(check.lost.values()) - before == check.damaged_urls == len(lost)
        assert check.damaged_left == 0
        for url in lost:
            del self.model.urls[url]


class FoundAgainMachine(FrontierMachine):
    """Links also lead to cold URLs. Of these, tiers promise less: see `thresher.frontier.tiered`.

    With `Merge.MAX`, and without new scores in between, every lease has the best score of all ready hosts, and it is
    the greatest that the URL was found with. Among equal scores any URL may come first, and `depth_left`, `hops` and
    what is listed may be those of one copy. No URL is lost, leased twice or counted twice.
    """

    @initialize(settings=settings_of_a_frontier)
    def start(self, settings):
        super().start({**settings, "merge": Merge.MAX, "waiting_per_host": 100})

    @rule()
    def rescore(self):
        pass

    @rule()
    def rescore_unless_changed(self):
        pass

    def compare_leases(self, leases, limit, seconds, pages):
        now = self.clock.now
        self.model.lease(0, seconds, now)  # ends what has expired
        if pages is not None:
            limit = min(limit, pages - self.model.pages_under_way())
        for lease in leases:
            ready = {url.found.url: url for url in self.model.ready(now)}
            assert lease.url in ready
            assert lease.score == max(url.found.score for url in ready.values())
            own = self.model.hand_out(ready[lease.url], lease.until)
            assert (own.score, own.fence, own.tries) == (lease.score, lease.fence, lease.tries)
        assert len(leases) == max(0, limit) or (len(leases) < limit and not self.model.ready(now))

    @invariant()
    def both_answer_alike(self):
        if hasattr(self, "model"):
            now = self.clock.now
            counts, seconds, best = self.run(self.ask())
            assert counts == self.model.counts(now)
            assert seconds == self.model.seconds_to_next(now)
            assert {entry.url for entry in best} == {entry.url for entry in self.model.peek(100)}

    def all_is_where_it_should_be(self):
        for url in URLS:
            found, known = self.run(self.frontier.find(url)), self.model.find(url)
            assert (found and found.state) == (known and known.state)
        self.every_url_is_accounted_for()

    def absent(self):
        return [url for url in URLS if self.model.find(url) is None]
