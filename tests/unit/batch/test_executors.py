"""A job gives the same table in this process and on Ray."""

import pickle
import sys

import pyarrow.parquet as pq
import pytest

from thresher.batch import JOBS
from thresher.batch.executors import run_batch
from thresher.batch.jobs import open_job
from thresher.errors import ConfigError


def test_without_ray_the_message_names_the_extra(crawl, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install \"thresher-crawler\[ray\]\""):
        run_batch("links", crawl, tmp_path / "links.parquet", ray="local")
    assert [path.name for path in tmp_path.iterdir()] == ["crawl"]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_can_be_sent_to_another_process(crawl, name):
    job = open_job(name, crawl)
    assert pickle.loads(pickle.dumps(job)).columns == job.columns


@pytest.fixture
def cluster(monkeypatch):
    """Two processes of Ray on this machine."""
    ray = pytest.importorskip("ray", reason="needs thresher-crawler[ray]")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_worker_niceness", "0")  # by default 15: a busy machine would never come to them
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_ray_gives_the_same_tables(crawl, tmp_path, cluster):
    for name in JOBS:
        here, there = tmp_path / f"{name}.parquet", tmp_path / f"{name}-ray.parquet"
        run_batch(name, crawl, here)
        run_batch(name, crawl, there, ray="local", work=tmp_path)
        assert pq.read_table(there).equals(pq.read_table(here))
