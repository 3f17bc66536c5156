"""URLs that were seen: bounded, kept, and shared."""

import pytest

from thresher.modelstate.folder import FolderStateStore
from thresher_papers.strategies import infospiders
from thresher_papers.strategies.infospiders import SeenUrls


def test_a_url_is_seen_once_it_was_added():
    urls = SeenUrls()
    urls.add("http://a.example/")
    assert "http://a.example/" in urls
    assert "http://b.example/" not in urls


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(infospiders, "MAX_SEEN", 2)
    urls = SeenUrls()
    for name in "abc":
        urls.add(name)
    assert [name in urls for name in "abc"] == [False, True, True]


def page(urls, *new):
    """Let a page come on which these URLs are chosen."""
    urls.page_started()
    for url in new:
        urls.add(url)
    urls.page_done()


def pair(folder):
    one, two = SeenUrls(), SeenUrls()
    one.load_state(FolderStateStore(folder, "one"))
    two.load_state(FolderStateStore(folder, "two"))
    return one, two


def test_what_one_worker_saw_the_others_know_before_their_next_page(tmp_path):
    one, two = pair(tmp_path)
    page(one, "http://a.example/")
    two.page_started()
    assert "http://a.example/" in two
    assert two.by_others("http://a.example/")
    assert not one.by_others("http://a.example/")


def test_they_are_written_down_more_rarely_as_the_crawl_grows(tmp_path, monkeypatch):
    urls, writes = SeenUrls(), []
    urls.load_state(FolderStateStore(tmp_path, "one"))
    monkeypatch.setattr(
        urls, "save_state", lambda: (writes.append(urls._pages), urls._refit_schedule.written(urls._pages))
    )
    for number in range(200_000):
        page(urls, str(number))
    assert writes[:3] == [1, 2, 3]
    assert writes[-1] - writes[-2] == infospiders.SAVE_PAGES
    assert len(writes) < 550


def test_each_worker_writes_down_its_own_and_no_more_than_fits(tmp_path, monkeypatch):
    monkeypatch.setattr(infospiders, "MAX_SENT", 2)
    one, two = pair(tmp_path)
    page(one, "a", "b", "c")
    page(two, "d")
    assert len(FolderStateStore(tmp_path, "one").read(infospiders.STATE_KIND)) == infospiders._HEAD.size + 16
    three = SeenUrls()
    three.load_state(FolderStateStore(tmp_path, "three"))
    assert [name in three for name in "abcd"] == [False, True, True, True]


def test_agents_of_all_workers_add_up_and_are_counted_once(tmp_path):
    one, two = pair(tmp_path)
    for out in (5, 7):
        one.out = out
        page(one)
        two.page_started()
    two.out = 2
    assert (one.all_out, two.all_out) == (7, 9)


def test_a_restart_knows_what_was_seen(tmp_path):
    one, _ = pair(tmp_path)
    page(one, "http://a.example/")
    again = SeenUrls()
    again.load_state(FolderStateStore(tmp_path, "one"))
    assert "http://a.example/" in again
    assert not again.by_others("http://a.example/")


@pytest.mark.parametrize("content", [b"", b"nothing", b"seen", b"seen" + bytes(24) + b"odd"])
def test_a_damaged_entry_of_another_worker_is_left_out(tmp_path, content, caplog):
    FolderStateStore(tmp_path, "bad").write(infospiders.STATE_KIND, content)
    one, _ = pair(tmp_path)
    assert one.all_out == 0
    assert "cannot be read" in caplog.text
