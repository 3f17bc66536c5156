"""A run is stopped by its process, or by an order to all machines."""

import subprocess
import sys

import pytest

from testing.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from thresher.config.run_options import RunOptions
from thresher.coordination.connection import connect_store
from thresher.coordination.stop_orders import StopOrders
from thresher.crawl import CrawlSetup
from thresher.errors import ThresherError
from thresher.runner.limits import StopReason

RUNNER = """
import sys, time
from pathlib import Path
from thresher.config.folder import CrawlFolder
with CrawlFolder(Path(sys.argv[1])).only_one_run():
    print("runs", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topic.yaml").write_text("title: {en: sun}\nseeds: ['http://a.example/']\n", encoding="utf-8")
    return tmp_path


async def test_the_process_that_runs_is_terminated(folder):
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, str(folder)], stdout=subprocess.PIPE)
    with runner:
        assert runner.stdout.readline()
        await CrawlSetup.open(folder).backend.stop_run()
        assert runner.wait(10) == -15


async def test_what_does_not_run_cannot_be_stopped(folder):
    with pytest.raises(ThresherError, match="is under way"):
        await CrawlSetup.open(folder).backend.stop_run()


async def test_machines_that_share_a_crawl_are_ordered_to(folder, redis_url):  # noqa: F811
    await CrawlSetup.open(folder, RunOptions(store=redis_url, name="solar")).backend.stop_run()
    connection = connect_store(redis_url, patience_seconds=5.0)
    assert (await StopOrders(connection, "solar").read()).stop == StopReason.STOPPED.name
    await connection.close()
