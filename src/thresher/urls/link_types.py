"""Link types of FCMRPS: the position of a child's URL relative to its parent's."""

from __future__ import annotations

import re
from enum import StrEnum

from thresher.urls.canonical import host_key

_INDEX_NAME = re.compile(r"(?:(?:index|default)\.[^/]*)?", re.IGNORECASE).fullmatch


class LinkType(StrEnum):
    """The direction of a link."""

    DOWNWARD = "downward"
    """Same host, below the parent's directory."""
    SIBLING = "sibling"
    """Same host, same directory."""
    CROSSWISE = "crosswise"
    """Same host, another branch."""
    OUTWARD = "outward"
    """Another host."""
    UPWARD = "upward"
    """Same host, an ancestor directory."""


def link_type(parent_url: str, child_url: str) -> LinkType:
    """Return the direction of a link; both URLs are canonical.

    Scheme, a leading ``www.`` and the query are ignored. The index page of a directory is above its siblings.
    """
    if _site(parent_url) != _site(child_url):
        return LinkType.OUTWARD
    parent, parent_name = _split(parent_url)
    child, child_name = _split(child_url)
    if child == parent:
        return _within_directory(bool(_INDEX_NAME(parent_name)), bool(_INDEX_NAME(child_name)))
    if child.startswith(parent):
        return LinkType.DOWNWARD
    return LinkType.UPWARD if parent.startswith(child) else LinkType.CROSSWISE


def _within_directory(from_index: bool, to_index: bool) -> LinkType:
    if from_index == to_index:
        return LinkType.SIBLING
    return LinkType.DOWNWARD if from_index else LinkType.UPWARD


def _site(url: str) -> str:
    return host_key(url).removeprefix("www.")


def _split(url: str) -> tuple[str, str]:
    """Split a URL's path into its directory, with the last slash, and the file name."""
    path = url.partition("://")[2].partition("?")[0].partition("/")[2]
    directory, _, name = path.rpartition("/")
    return f"/{directory}/" if directory else "/", name
