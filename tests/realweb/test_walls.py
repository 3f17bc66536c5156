"""Sites whose pages are walls: each is left after a few requests, and no wall is stored, whatever its language."""

import pytest

from testing.block_pages import URL, walls
from testing.recording_server import Answer, page, recorder
from tests.faults.live import crawl
from thresher.records import BlockKind

KINDS = (BlockKind.CHALLENGE, BlockKind.CONSENT, BlockKind.LOGIN, BlockKind.PAYWALL)
CASES = {f"w{number}.test": case for number, case in enumerate(walls()) if case.kind in KINDS and case.url == URL}
CHALLENGE = next(case for case in CASES.values() if case.kind is BlockKind.CHALLENGE)
STATUSES = {
    "denied.test": Answer(status=403, headers=[("cf-mitigated", "challenge")], body=CHALLENGE.html),
    "plain-denied.test": Answer(status=403, body=CHALLENGE.html),
    "unavailable.test": Answer(status=503, body=CHALLENGE.html),
}
MAX_REQUESTS = 8
"""robots.txt, the home page, five walls in a row, and one challenge that is tried again."""


def site(name, wall):
    """Return a site with an ordinary home page and twelve pages behind a wall."""
    links = {f"/cells-{number}": f"perovskite solar cells {number}" for number in range(12)}
    return {"/": page(f"Home of {name}", f"Perovskite solar cells of {name}. " * 20, links), "/cells-*": wall}


@pytest.fixture(scope="module")
def walled():
    """One crawl of all sites: what is known of each host, the stored URLs, and the requests that the server got."""
    script = {name: site(name, Answer(body=case.html, headers=dict(case.headers))) for name, case in CASES.items()}
    script |= {name: site(name, answer) for name, answer in STATUSES.items()}
    with recorder(script) as w:
        result = crawl(w, [w.url(name) for name in script], seconds=90)
        assert result.exit_code == 0, result.stderr
        yield result.hosts, result.urls, {name: w.hits(name) for name in script}


@pytest.mark.parametrize("name", [*CASES, *STATUSES], ids=lambda name: CASES[name].name if name in CASES else name)
def test_a_walled_site_is_left_after_a_few_requests_and_only_its_home_page_is_stored(walled, name):
    hosts, urls, hits = walled
    kind = CASES[name].kind if name in CASES else BlockKind.CHALLENGE
    assert {url for url in urls if f"//{name}/" in url} == {f"http://{name}/"}
    assert set(hosts[name]["blocked"]) == {kind}
    assert hosts[name]["parked"].startswith(str(kind.reason))
    assert len(hits[name]) <= MAX_REQUESTS
