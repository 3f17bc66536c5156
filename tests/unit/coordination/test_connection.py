"""A shared frontier names the package that it lacks."""

import sys

import pytest

from thresher.config.frontier import FrontierConfig
from thresher.coordination.connection import shared_frontier
from thresher.errors import MissingExtra
from thresher.records import Merge


def test_a_cold_storage_needs_pyarrow(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    tiers = FrontierConfig(cold=str(tmp_path))
    with pytest.raises(MissingExtra, match=r"\[parquet\]"):
        shared_frontier(None, "solar", tiers, crawl_id="1", merge=Merge.MAX, delay_seconds=1.0)
