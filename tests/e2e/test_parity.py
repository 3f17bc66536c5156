"""What is measured is what runs: the engine over sockets and the simulator fetch the same pages in the same order."""

import pytest

from bench.effectiveness.parity import STRATEGIES, equal_share, orders
from thresher_lab.webs.generator import generate


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_the_engine_and_the_simulator_agree(strategy, tmp_path):
    web = generate(3, pages=2000, hosts=20, tunnel_depth=0)
    live, simulated = await orders(web, "Arts/Music", strategy, 150, tmp_path / "crawl")
    assert len(live) >= 150
    assert equal_share(live, simulated) == 1.0
