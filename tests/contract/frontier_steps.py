"""Small steps that the tests of every frontier take."""

from thresher.records import Candidate, Outcome, Settlement

A1, A2, A3 = "http://a.example/1", "http://a.example/2", "http://a.example/3"
B1, B2 = "http://b.example/1", "http://b.example/2"


def link(url, score=0.5, **more):
    return Candidate(url=url, score=score, **more)


def settlement(lease, outcome=Outcome.DONE, **more):
    return Settlement(lease=lease, outcome=outcome, **more)


async def urls_leased(frontier, limit=10):
    return [lease.url for lease in await frontier.lease(limit, seconds=60)]


async def state(frontier, url):
    entry = await frontier.find(url)
    return entry and entry.state


async def found_again_with_a_lower_score(frontier, other):
    """Lease five URLs of one host, of which another worker found the worst, a cold one, again; return them with scores.

    The other worker, because the one that added a link does not send it again.
    """
    await frontier.add([link(f"http://a.example/{n}", n / 16) for n in range(4, 9)])
    await other.add([link("http://a.example/4", 2 / 16)])  # now a second copy is hot
    leases = []
    for _ in range(5):
        [lease] = await frontier.lease(1, seconds=60)
        leases.append((lease.url, lease.score))
        await frontier.commit([settlement(lease)])
    return leases
