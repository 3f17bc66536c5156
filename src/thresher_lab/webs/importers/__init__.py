"""Importers of existing collections as webs of the lab."""

from thresher_lab.webs.importers.crawl import from_crawl
from thresher_lab.webs.importers.pagefile import SourcePage, read_pages, write_web
from thresher_lab.webs.importers.warc import from_warc
from thresher_lab.webs.importers.webkb import from_webkb
from thresher_lab.webs.importers.wikispeedia import from_wikispeedia

__all__ = ["SourcePage", "from_crawl", "from_warc", "from_webkb", "from_wikispeedia", "read_pages", "write_web"]
