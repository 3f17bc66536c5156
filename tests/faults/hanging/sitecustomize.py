"""On PYTHONPATH: a parser that never returns from pages which say "hang here", as C code would not."""

import re

from thresher.engine import watchdog
from thresher.parsing import html, isolated

_parse = html.parse


def parse(url, body, content_type=""):
    """Parse a page, or never come back."""
    if b"hang here" in body[:1000]:
        re.match("(a*)*b", "a" * 1000)
    return _parse(url, body, content_type)


html.parse = parse
watchdog.TIMEOUT_SECONDS = 1.0
isolated.MAX_CPU_SECONDS = 0.5
