"""Podman with the images of the project, for all tests of a session."""

import os

import pytest

from tests.deployment.podman import Podman, missing


@pytest.fixture(scope="session")
def podman():
    if os.geteuid() or missing():
        pytest.skip(f"needs root and {', '.join(missing()) or 'no more programs'}")
    podman = Podman()
    podman.make_images()
    return podman
