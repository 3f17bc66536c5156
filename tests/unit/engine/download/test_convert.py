"""A Scrapy response becomes a record of ours."""

import scrapy
from scrapy.http import Response

from thresher.engine.download.handler import fetched_page

URL = "http://a.example/"


def test_of_most_headers_the_first_line_counts_and_of_robots_tags_every_line():
    headers = {"Content-Type": ["text/html", "text/plain"], "X-Robots-Tag": ["reaper: noindex", "nofollow"]}
    page = fetched_page(Response(URL, headers=headers, request=scrapy.Request(URL)), URL)
    assert page.headers == {"content-type": "text/html", "x-robots-tag": "reaper: noindex\nnofollow"}
