"""One build and one installation for all tests of the release."""

import pytest

from tests.release.building import build, install


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    """Wheel and source archive, as `make dist` builds them."""
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def bare(dist, tmp_path_factory):
    """The Python of an environment that has the wheel, without extras."""
    return install(dist.wheel, tmp_path_factory.mktemp("bare"))
