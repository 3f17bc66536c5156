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
