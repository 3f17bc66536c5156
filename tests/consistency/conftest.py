"""The command line, a small site on loopback and a real Redis server, as the end-to-end tests have them."""

from tests.e2e.conftest import site, thresher

__all__ = ["site", "thresher"]
