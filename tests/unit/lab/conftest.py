"""Small webs to test the lab with."""

import pytest

from thresher_lab.webs.importers.pagefile import SourcePage, write_web
from thresher_lab.webs.virtualweb import VirtualWeb
from thresher_lab.webs.webstore import find_store


@pytest.fixture
def folders(tmp_path):
    """A folder for page files and one for stores, as keyword arguments."""
    (tmp_path / "webs").mkdir()
    return {"webs": tmp_path / "webs", "cache": tmp_path / "cache"}


@pytest.fixture
def make_web(folders):
    """Make a web from pages, or from addresses and the addresses that they link to."""
    opened = []

    def make(pages, *, name="small"):
        if isinstance(pages, dict):
            pages = [linking_page(url, links) for url, links in pages.items()]
        write_web(folders["webs"] / f"{name}.pages.jsonl.zst", pages)
        opened.append(VirtualWeb(name, find_store(name, **folders)))
        return opened[-1]

    yield make
    for web in opened:
        web.close()


def linking_page(url, links):
    anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
    return SourcePage(url=url, html=f"<title>Page {url}</title><p>Hello. {anchors}</p>")
