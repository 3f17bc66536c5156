"""A cluster of 64 virtual workers, in small: what `python -m bench.effectiveness.fleet --cluster` measures in full."""

import pytest

from bench.effectiveness.cluster import cluster_plan, run_cluster
from testing.servers import ServerMissing, store_server

WORKERS, HOSTS, PAGES = 64, 40, 260


@pytest.fixture(params=[None, "redis"], ids=["memory", "redis"])
def store(request, tmp_path):
    if request.param is None:
        yield None
        return
    try:
        with store_server(request.param, tmp_path) as server:
            yield server.url
    except ServerMissing as error:
        pytest.skip(str(error))


async def test_64_workers_lose_no_page_and_stay_polite_though_some_die(store):
    plan = cluster_plan(WORKERS, slots=2)
    report = await run_cluster(WORKERS, HOSTS, PAGES, store=store, plan=plan, look_seconds=0.5)
    assert (report.missing, report.left) == (0, 0)
    assert report.reachable > 0.9 * PAGES
    assert report.deaths > 15
    audit = report.audit
    assert (audit.crowded, audit.hasty) == (0, 0)
    assert audit.least_gap >= plan.delay_seconds - 0.002
    assert audit.best == audit.looked > 20
    assert report.pages_per_second > 0.8 * report.polite_pages_per_second
