"""Ways to turn what others have collected into a web of the lab."""

from thresher.lab.importers.crawl import from_crawl
from thresher.lab.importers.pagefile import SourcePage, read_pages, write_web
from thresher.lab.importers.warc import from_warc
from thresher.lab.importers.webkb import from_webkb
from thresher.lab.importers.wikispeedia import from_wikispeedia

__all__ = ["SourcePage", "from_crawl", "from_warc", "from_webkb", "from_wikispeedia", "read_pages", "write_web"]
