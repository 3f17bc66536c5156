"""A spider that follows every link."""

from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import Response

from music.items import Page


class Pages(scrapy.Spider):
    """Takes every page it can reach."""

    name = "pages"

    def __init__(self, start: str = "https://example.org/", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = start.split(",")

    def parse(self, response: Response) -> Iterator[Any]:
        """Make an item of a page, and follow its links."""
        known = response.meta.get("thresher", {})
        yield Page(
            url=response.url,
            title=response.css("title::text").get(default=""),
            relevance=known.get("relevance"),
        )
        yield from response.follow_all(css="a")
