"""Opening a frozen web by its name."""

from __future__ import annotations

from pathlib import Path

from thresher_lab.webs.archipelago import open_archipelago
from thresher_lab.webs.virtualweb import VirtualWeb, Web
from thresher_lab.webs.webstore import find_store


def open_web(name: str, *, webs: Path | None = None, cache: Path | None = None) -> Web:
    """Open a web by its name; its page file is imported when the web is opened for the first time.

    Args:
        name: ``archipelago``, or the name of a web in the folder of webs, such as ``wikispeedia``.
        webs: The folder of page files; by default that of the environment variable THRESHER_WEBS.
        cache: The folder of stores; by default that of THRESHER_CACHE, or ``~/.cache/thresher/webs``.

    Raises:
        ConfigError: There is no folder of webs.
        UnknownName: There is no page file for the web.
        StoreError: The page file cannot be read.
    """
    if name == "archipelago":
        return open_archipelago(webs=webs, cache=cache)
    return VirtualWeb(name, find_store(name, webs=webs, cache=cache))
