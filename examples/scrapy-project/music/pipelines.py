"""What becomes of items."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from music.items import Page


class WithTitle:
    """Drops pages that have no title."""

    def process_item(self, item: Page) -> Page:
        """Look at one item."""
        if not item.title:
            raise DropItem("no title")
        return item


class JsonLines:
    """Writes one JSON object per line; what it has returned for is in the file, whatever happens then."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Name the file as the settings say."""
        return cls(Path(crawler.settings.get("PAGES_FILE", "pages.jsonl")))

    def open_spider(self) -> None:
        """Go on at the end of the file."""
        self._file = self._path.open("a", encoding="utf-8")

    def process_item(self, item: Page) -> Page:
        """Write one item."""
        self._file.write(json.dumps(asdict(item), ensure_ascii=False) + "\n")
        self._file.flush()
        return item

    def close_spider(self) -> None:
        """Close the file."""
        self._file.close()
