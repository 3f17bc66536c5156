import pytest
from obstore.store import MemoryStore

from tests.contract.collection_machines import Machine
from tests.contract.frontier_stores import STORES
from tests.contract.lua_faults import plant  # noqa: F401
from thresher.objects.base import open_objects
from thresher.objects.bucket import BucketObjects

NOT_ON_A_CLUSTER = {
    "test_among_equals_the_oldest_comes_first": "each shard counts ages of its own",
    "test_a_commit_after_the_end_of_its_lease_changes_nothing": "links to other shards are let in first",
    "test_a_commit_with_an_old_fence_changes_nothing": "links to other shards are let in first",
    "test_a_refused_settlement_leaves_the_rest_of_its_batch_alone": "links to other shards are let in first",
}
"""What a frontier in several shards does not promise, and why."""


@pytest.fixture(params=STORES)
def store(request, tmp_path, clock):
    if request.param.endswith("cluster") and (why := NOT_ON_A_CLUSTER.get(request.node.originalname)):
        pytest.skip(why)
    return STORES[request.param](tmp_path, clock)


@pytest.fixture
async def open_frontier(store):
    opened = []

    def open_frontier(**settings):
        opened.append(store.open(**settings))
        return opened[-1]

    yield open_frontier
    for frontier in opened:
        await frontier.close()


@pytest.fixture
def frontier(open_frontier):
    return open_frontier()


@pytest.fixture(params=["memory", "file", "s3"])
def objects(request, tmp_path):
    if request.param == "memory":
        return BucketObjects(MemoryStore(), "memory:///")
    if request.param == "file":
        return open_objects(f"file://{tmp_path}/objects")
    return open_objects(request.getfixturevalue("s3").url(tmp_path.name))


@pytest.fixture
def machines(tmp_path, objects):
    made = [Machine(tmp_path / name, objects) for name in ("one", "two")]
    yield made
    for machine in made:
        machine.writer.close()
        machine.uploader.close()
