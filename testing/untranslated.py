"""English in Chinese output: words that are neither names nor code."""

from __future__ import annotations

import re
import socket

NAMES = frozenset(
    {
        *("Thresher", "thresher", "adaptive", "solar", "URL", "DIR", "JSON", "YAML", "HTTP", "http", "https", "UTC"),
        *("TLS", "DNS", "AI", "KiB", "GiB", "JavaScript", "Python", "python", "sqlite", "pycurl", "ok", "Ctrl-C"),
        *(
            socket.gethostname(),
            "Prometheus",
            "Scrapy",
            "Ray",
            "Parquet",
            "WARC",
            "scikit-learn",
            "token",
            "English",
            "en",
            "zh",
        ),
    }
)
"""Names of products, formats and units; of the strategy, the judge and the crawl; languages in their own words."""
_CODE = re.compile(
    r"https?://\S+|Web Bot Auth"  # addresses, a protocol
    r"|(?<![\w.-])(?:thresher|pip|ulimit) [ -~]+"  # commands, up to the next Chinese character
    r"|[\w*-]+(?:[./_][\w*-]+)+(?::\d+)?"  # files, hosts, keys
    r"|--[\w-]+|'[^']*'|\b[A-Z]{2,}\b"  # options, what is quoted, placeholders
    r"|\S+@\S+|(?<=未安装：)[\w., -]+"  # mail addresses, packages that are missing
    r"|\[[\w-]+\]|[\w.-]+ \d[\w.+]*"  # extras, and packages with their versions
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")


def english_words(text: str) -> list[str]:
    """Return the English words of a text that should be Chinese."""
    return [word for word in _WORD.findall(_CODE.sub(" ", text)) if word not in NAMES]
