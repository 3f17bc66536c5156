from thresher.records import Outcome
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader, kept_judgement, kept_page
from thresher.urls.canonical import fingerprint

URL = "http://a.example/"


def keep(folder, **values):
    writer = PageStoreWriter(folder / "w1.db")
    known = {"fingerprint": fingerprint(URL), "url": URL, "status": 200, "outcome": Outcome.DONE, "fetched_at": 1.0}
    writer.write([PageRecord(**known, **values)])
    writer.close()


def kept(folder):
    with PageStoreReader(folder) as collection:
        return kept_page(collection, fingerprint(URL))


def test_a_page_comes_back_with_its_words_and_links(tmp_path):
    links = [
        FoundLink(url="http://a.example/1", anchor="the moon", score=0.5, parts={}),
        FoundLink(url="http://a.example/2", anchor="the moon", score=0.5, parts={}),
        FoundLink(url="http://a.example/3", anchor="elsewhere", score=0.5, parts={}),
    ]
    text = "Look at the moon tonight, or at the moon of Mars."
    keep(tmp_path, page=True, title="Moons", language="en", relevance=0.7, relevant=True, text=text, links=links)
    page, record = kept(tmp_path)
    assert (page.title, page.text, page.language) == ("Moons", text, "en")
    assert [link.context.split()[-1] if link.context else "" for link in page.links] == ["Mars.", "Mars.", ""]
    assert page.links[1].context.startswith("Look at the moon tonight, or at ")
    assert kept_judgement(record).relevance == 0.7


def test_a_page_without_text_has_its_title(tmp_path):
    keep(tmp_path, page=True, title="Moons")
    assert kept(tmp_path)[0].text == "Moons"


def test_what_brought_no_page_is_none(tmp_path):
    keep(tmp_path, page=False)
    assert kept(tmp_path) is None
    with PageStoreReader(tmp_path) as collection:
        assert kept_page(collection, 1) is None
