"""URLs that were seen: bounded, kept, and shared."""

from thresher.classify.notebook import FolderNotebook
from thresher.strategies import seen
from thresher.strategies.seen import SeenUrls


def test_a_url_is_seen_once_it_was_added():
    urls = SeenUrls()
    urls.add("http://a.example/")
    assert "http://a.example/" in urls
    assert "http://b.example/" not in urls


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(seen, "MOST_SEEN", 2)
    urls = SeenUrls()
    for name in "abc":
        urls.add(name)
    assert [name in urls for name in "abc"] == [False, True, True]


def test_they_are_written_down_every_so_many_pages_and_read_by_others(tmp_path, monkeypatch):
    monkeypatch.setattr(seen, "SAVE_PAGES", 2)
    one, two = SeenUrls(), SeenUrls()
    one.keep_in(FolderNotebook(tmp_path, "one"))
    one.add("http://a.example/")
    one.page_done()
    two.keep_in(FolderNotebook(tmp_path, "two"))
    assert "http://a.example/" not in two
    one.page_done()
    two.write_down()
    assert "http://a.example/" in two
