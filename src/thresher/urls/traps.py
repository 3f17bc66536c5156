"""Signs of a URL that a site makes up without end. Thresholds follow what crawlers have long used."""

from __future__ import annotations

MAX_PATH_SEGMENTS = 12
MAX_SEGMENT_REPEATS = 2
MAX_QUERY_KEYS = 8


def trap(url: str) -> str:
    """Say why a canonical URL looks like a trap; empty when it does not."""
    path, _, query = url.partition("?")
    if query and len({piece.partition("=")[0] for piece in query.split("&")}) > MAX_QUERY_KEYS:
        return "too many query keys"
    if path.count("/") < 3 + MAX_SEGMENT_REPEATS:  # three slashes come before the first segment
        return ""
    segments = [segment for segment in path.split("/")[3:] if segment]
    if len(segments) > MAX_PATH_SEGMENTS:
        return "path too long"
    if len(segments) - len(set(segments)) >= MAX_SEGMENT_REPEATS and _most_repeated(segments) > MAX_SEGMENT_REPEATS:
        return "path repeats itself"
    return ""


def _most_repeated(segments: list[str]) -> int:
    return max(map(segments.count, segments))
