"""thresher topics tokens: candidates for the token table, from a crawl or from a file of URLs."""

import json

import pytest
from click.testing import CliRunner

from thresher.cli import thresher
from thresher.records import Outcome
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter

HEAD = "labels\twords\tabbreviations\tchinese\tpinyin\tinitials"


def page(number, path, *links):
    return PageRecord(
        fingerprint=number,
        url=f"http://x.cn/{path}",
        status=200,
        outcome=Outcome.DONE,
        fetched_at=float(number),
        page=True,
        links=[FoundLink(url=url, anchor="", score=0.5, parts={}) for url in links],
    )


@pytest.fixture
def crawl(tmp_path):
    (tmp_path / "topic.yaml").write_text("title: {en: curling}\nseeds: [seeds.txt]\n", encoding="utf-8")
    (tmp_path / "seeds.txt").write_text("http://x.cn/\n", encoding="utf-8")
    writer = PageStoreWriter(tmp_path / "pages" / "1.db")
    writer.write([page(1, "binghu/curling/"), page(2, "binghu/lanqiu/", "http://x.cn/kexue/zhoukan/")])
    writer.close()
    return tmp_path


def listed(*arguments):
    result = CliRunner().invoke(thresher, ["topics", "tokens", *map(str, arguments), "--json"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return {each["token"]: each["count"] for each in json.loads(result.stdout)}


def test_urls_of_pages_are_counted_and_the_topics_own_words_are_known(crawl):
    assert listed(crawl, "--least", 0) == {"binghu": 2, "x": 2}


def test_links_are_counted_when_asked_for(crawl):
    assert listed(crawl, "--least", 0, "--links") == {"x": 3, "binghu": 2, "zhoukan": 1}


def test_a_table_in_the_crawls_folder_is_known(crawl):
    (crawl / "tokens.tsv").write_text(f"{HEAD}\nCurling\t\t\t冰壶\n", encoding="utf-8")
    assert listed(crawl, "--least", 0) == {"x": 2}


def test_a_plain_file_of_urls_will_do(tmp_path):
    (tmp_path / "urls.txt").write_text("http://x.cn/binghu/\n\nhttp://y.cn/binghu/\n", encoding="utf-8")
    assert listed(tmp_path / "urls.txt", "--least", 1) == {"binghu": 2}


def test_the_table_says_on_standard_error_how_exact_it_is(tmp_path):
    (tmp_path / "urls.txt").write_text("http://x.cn/binghu/\n", encoding="utf-8")
    result = CliRunner().invoke(thresher, ["topics", "tokens", str(tmp_path / "urls.txt")])
    assert result.stderr == "0 tokens in more than 500 of 1 URLs; counts are exact\n"
