"""One build and one installation for all tests of the release."""

import pytest

from testing.building import build, build_wheel, install


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    """Source archive and the wheel for all platforms, as `make dist` builds them."""
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel that a user of this platform gets."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def bare(wheel, tmp_path_factory):
    """The Python of an environment that has that wheel, without extras."""
    return install(wheel, tmp_path_factory.mktemp("bare"))
