"""A crawl keeps every PDF of a web, those that only a PDF links to included, as the log of the server proves."""

import json

import pytest

from bench.collection.walls import ON_TOPIC, pdf_answer
from testing.recording_server import page, recorder
from tests.faults.live import crawl

PDFS, HOSTS = 50, 10


def url_of(number):
    return f"http://host{number % HOSTS}.test/papers/{number}" + (".pdf" if number % 3 else "")


@pytest.fixture(scope="module")
def crawled():
    script = {f"host{number}.test": {} for number in range(HOSTS)}
    for number in range(PDFS):
        host, path = url_of(number).removeprefix("http://").split("/", 1)
        script[host][f"/{path}"] = pdf_answer(number, url_of((number + 1) % PDFS))
    linked = [url_of(number) for number in range(0, PDFS, 2)]  # the others are linked from PDFs only
    script["start.test"] = {"/": page("Papers", "perovskite solar cells", linked)}
    settings = {"engine": {"timeout_seconds": 20.0, "lease_seconds": 60.0}, "languages": ["en", "zh"]}
    with recorder(script) as w:
        result = crawl(w, [w.url("start.test")], settings, seconds=120)
        yield result, w.hits()


def test_no_pdf_is_lost_and_none_is_fetched_twice(crawled):
    result, hits = crawled
    expected = {url_of(number) for number in range(PDFS)}
    fetched = [f"http://{hit.host}{hit.path}" for hit in hits if hit.path.startswith("/papers/") and hit.status == 200]
    assert result.exit_code == 0
    assert sorted(fetched) == sorted(expected)
    assert result.urls & expected == expected
    assert result.status["failures"] == []


def test_pdfs_are_judged_searched_and_exported_like_pages(crawled):
    result, _ = crawled
    papers = {page["url"]: page for page in result.pages if "/papers/" in page["url"]}
    assert all(papers[url_of(number)]["title"] == f"Paper {number}" for number in range(PDFS))
    relevant = {number for number in range(PDFS) if papers[url_of(number)]["relevant"]}
    assert relevant == set(range(0, PDFS, 2))
    found = json.loads(result.thresher("search", "tandem device 42", "--json"))
    assert url_of(42) in json.dumps(found)
    rows = [json.loads(line) for line in result.thresher("export", "-f", "jsonl", "--text", "--relevant").splitlines()]
    texts = {row["url"]: row["text"] for row in rows}
    assert ON_TOPIC.format(42) in texts[url_of(42)]
    assert (
        "Paper 41" in result.why(url_of(42))
        or url_of(41) in result.why(url_of(42))
        or "start.test" in result.why(url_of(42))
    )
