"""URLs that are taken from a frontier are missed, queued again and fetched, also beside a host that evicted others."""

import asyncio
import json
import random
import sqlite3
from contextlib import closing

import pytest
import redis

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from tests.e2e.conftest import quick
from thresher.crawl import CrawlSetup
from thresher.reasons.legacy import legacy_reason

TAKEN = 120
FETCHED = 20
BIG = 11
"""Pages with the links of the other host: of one page not all would be followed."""
EVICTED = 300
"""More than the URLs that are taken: as a number, they would explain those."""


def words(seed, number):
    """Made-up words, so that no page looks like another one, as in a trap."""
    chance = random.Random(seed)
    return ["".join(chance.choices("aeioulmnrst", k=8)) for _ in range(number)]


PATHS = [f"/{'/'.join(words(number, 2))}" for number in range(TAKEN)]


def take_from_file(folder, host):
    with closing(sqlite3.connect(folder / "frontier.db")) as db, db:
        return db.execute("DELETE FROM url WHERE state = 0 AND url LIKE ?", [f"http://{host}/%"]).rowcount


def take_from_store(url, host):
    with redis.Redis.from_url(url) as client:
        prefix = f"th:{{solar:0}}q{host}"
        keys = {key: [field for field in client.hkeys(key) if field] for key in client.keys(f"{prefix}*")}
        return sum(client.hdel(key, *fields) for key, fields in keys.items() if fields)


@pytest.fixture(params=["file", "store"])
def crawl(request, thresher, site, tmp_path):
    """A crawl in which one host has 120 waiting URLs and another one has evicted 300; and what takes the 120 away."""
    links = [f'<a href="/{number}">solar</a>' for number in range(10_000 + EVICTED)]
    small = "".join(f'<a href="{path}">solar cells</a>' for path in PATHS)
    for part in range(BIG):
        text = f"<p>Solar cells, many of them, part {part}.</p>"
        site.pages[f"/big/{part}"] = f"<title>Solar cells</title>{text}{''.join(links[part::BIG])}"
    site.pages["/small"] = f"<title>Solar cells</title><p>Solar cells, a few.</p>{small}"
    for path in PATHS:
        site.pages[path] = f"<title>Solar</title><p>Solar cells: {' '.join(words(path, 80))}.</p>"
    seeds = [site.url(f"/big/{part}", "localhost") for part in range(BIG)]
    made = thresher("new", "solar", "--topic", "solar cells", *(part for url in seeds for part in ("--seed", url)))
    assert made.returncode == 0, made.stderr
    host = f"127.0.0.1:{site.port}"
    if request.param == "file":
        quick(tmp_path / "solar")
        take = lambda: take_from_file(tmp_path / "solar", host)  # noqa: E731
    else:
        store = request.getfixturevalue("redis_url")
        quick(tmp_path / "solar", store=store)
        take = lambda: take_from_store(store, host)  # noqa: E731
    assert thresher("run", "solar", "--pages", BIG).returncode == 0
    with (tmp_path / "solar" / "seeds.txt").open("a", encoding="utf-8") as file:
        file.write(f"{site.url('/small')}\n")
    assert thresher("run", "solar", "--pages", BIG + 1).returncode == 0
    return take


async def park(folder, host):
    """Leave the other host out of the next run, which would be long."""
    frontier = CrawlSetup.open(folder).backend.frontier()
    await frontier.park(host, legacy_reason("not needed"))
    await frontier.close()


def findings_of(done):
    return {(each["state"], each["number"]) for each in json.loads(done.stdout)["findings"]}


def test_waiting_urls_that_were_taken_away_are_missed_queued_again_and_fetched(crawl, thresher, site, tmp_path):
    before = thresher("verify", "solar", "--json")
    [(state, evicted)] = findings_of(before)
    assert (before.returncode, state) == (0, "note"), before.stdout
    assert evicted >= EVICTED
    assert crawl() == TAKEN
    found = thresher("verify", "solar", "--json")
    assert found.returncode == 1, found.stdout
    assert findings_of(found) == {("note", evicted), ("wrong", TAKEN)}
    assert thresher("verify", "solar", "--repair").returncode == 0
    again = thresher("verify", "solar", "--json")
    assert (again.returncode, findings_of(again)) == (0, {("note", evicted)})
    asyncio.run(park(tmp_path / "solar", f"localhost:{site.port}"))
    run = thresher("run", "solar", "--pages", BIG + 1 + FETCHED, timeout=120)
    assert run.returncode == 0, run.stderr
    assert len(set(PATHS) & set(site.paths)) >= FETCHED
