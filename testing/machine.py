"""Where and when figures were measured."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version


def today() -> str:
    """Return the date, as it stands in a row."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def hardware() -> str:
    """Return where the figures were taken, without names or paths."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB RAM, Python {platform.python_version()}"


def machine() -> str:
    """Return where and when the figures were taken, and with which Scrapy."""
    return f"{today()}, {hardware()}, Scrapy {version('scrapy')}"
