import pytest

from tests.contract.frontier_stores import STORES, Clock


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=STORES)
def store(request, tmp_path, clock):
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
