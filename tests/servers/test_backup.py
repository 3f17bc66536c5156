"""The backup of a store can be restored as docs/howto/operate.md says: loaded first, its log switched on afterwards."""

import shutil
import subprocess
import time

import pytest
import redis

from testing.servers.store import StoreServer


@pytest.mark.skipif(shutil.which("redis-cli") is None, reason="redis-cli is not installed")
def test_a_backup_is_restored_and_outlives_the_next_start(tmp_path):
    before = StoreServer("redis", tmp_path / "before")
    before.start()
    try:
        with redis.Redis.from_url(before.url) as client:
            client.set("url", "waiting")
        backup = tmp_path / "backup.rdb"
        dump = ["redis-cli", "-p", str(before.port), "--rdb", str(backup)]
        subprocess.run(dump, check=True, capture_output=True)
    finally:
        before.kill()
    folder = tmp_path / "after"
    folder.mkdir()
    shutil.copy(backup, folder / "dump.rdb")
    loading = StoreServer("redis", folder, options=["--appendonly", "no"])
    loading.start()
    try:
        with redis.Redis.from_url(loading.url) as client:
            client.config_set("appendonly", "yes")
            deadline = time.monotonic() + 20
            while client.info("persistence")["aof_rewrite_in_progress"] and time.monotonic() < deadline:
                time.sleep(0.05)
    finally:
        loading.kill()
    restored = StoreServer("redis", folder)
    restored.start()
    try:
        with redis.Redis.from_url(restored.url) as client:
            assert client.get("url") == b"waiting"
    finally:
        restored.kill()
