import subprocess
import sys
import time

import pytest

from testing.servers import KINDS, store_server
from testing.servers.clock import Clock, can_step_clocks

pytestmark = pytest.mark.skipif(not can_step_clocks(), reason="no C compiler")


@pytest.mark.parametrize("kind", KINDS)
def test_the_clock_of_a_store_is_stepped_while_it_runs(kind, tmp_path):
    clock = Clock(tmp_path / "clock")
    with store_server(kind, tmp_path / "store", environment=clock.environment) as server, server.client() as client:
        for seconds in (0, 3600, -3600, 1):
            clock.step_to(seconds)
            deadline = time.monotonic() + 10.0
            while (off := abs(reported(client) - time.time() - seconds)) >= 2 and time.monotonic() < deadline:
                time.sleep(0.02)  # Valkey looks at its clock ten times a second when it has nothing to do
            assert off < 2


def reported(client):
    return int(client.eval("return redis.call('TIME')[1]", 0))


def test_the_clock_of_a_worker_is_stepped_and_its_monotonic_clock_is_not(tmp_path):
    clock = Clock(tmp_path)
    clock.step_to(-7200)
    script = "import time; print(time.time(), time.monotonic()); time.sleep(0.01)"
    reported = subprocess.run([sys.executable, "-c", script], env=clock.environment, capture_output=True, check=True)
    wall, monotonic = map(float, reported.stdout.split())
    assert abs(wall + 7200 - time.time()) < 5
    assert abs(monotonic - time.monotonic()) < 5
