import pytest

from tests.contract.frontier_stores import server_url
from thresher.frontier.redis.connection import RedisConnection
from thresher.frontier.redis.scripts import NAMES, Settings, script


@pytest.mark.parametrize("name", NAMES)
def test_a_script_says_what_it_takes_and_is_named_as_the_store_names_it(name):
    made = script(name)
    header = made.text[made.text.rindex("-- needs:") :]
    assert "-- KEYS: the shard's prefix\n-- ARGV: time, settings" in header
    assert len(made.sha) == 40


async def test_the_store_gives_scripts_the_same_names():
    connection = RedisConnection(server_url("redis"))
    for name in NAMES:
        assert await connection.call("SCRIPT LOAD", script(name).text) == script(name).sha
    await connection.close()


def test_settings_are_always_as_long():
    assert len(Settings().to_bytes()) == len(Settings(seen_keys=2**31, waiting_per_host=1).to_bytes()) == 53
