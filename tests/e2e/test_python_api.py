"""A crawl from Python, over real sockets and with real worker processes."""

import asyncio
import csv
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import thresher
from tests.e2e.conftest import serving
from thresher.crawl import CrawlSetup as BuiltCrawl

QUICK = {
    "politeness": {"delay_seconds": 0},
    "engine": {"timeout_seconds": 2, "lease_seconds": 8},
    "scope": {"traps": "follow"},  # all pages of the site look alike
}
TOPIC = thresher.Topic("perovskite solar cells; 钙钛矿太阳能电池")


def page(title, words, *links):
    anchors = "".join(f'<a href="{target}">{target}</a> ' for target in links)
    return f"<html><head><title>{title}</title></head><body><p>{words}</p>{anchors}</body></html>"


def tree(site, pages):
    """Make a site in which every page leads to three others."""
    for number in range(pages):
        words = f"Perovskite solar cells, part {number}: layers {number} of perovskite make solar cells cheap."
        links = [f"/{child}" for child in range(3 * number + 1, 3 * number + 4) if child < pages]
        site.pages[f"/{number}"] = page(f"Part {number}", words, *links)


@pytest.fixture
def crawl(site, tmp_path):
    tree(site, 40)
    return thresher.Crawl(tmp_path / "solar", topic=TOPIC, seeds=[site.url("/0")], settings=QUICK)


def is_free(crawl):
    """Tell whether nobody runs a crawl, and nothing is held."""
    return not crawl.status().running and crawl.status().leased == 0


def test_pages_come_one_by_one_each_once_and_a_second_run_goes_on(crawl):
    first = [page.url for page in crawl.run(pages=10)]
    again = [page.url for page in crawl.run(pages=25)]
    assert (len(first), len(again)) == (10, 15)
    assert len({*first, *again}) == 25
    assert first[0].endswith("/0")
    assert len(crawl.pages()) == 25


def test_a_page_has_its_title_text_verdict_and_time(crawl):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with crawl.run(pages=1) as run:
        page = next(run)
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert page.title == "Part 0"
    assert "perovskite" in page.text
    assert page.relevant
    assert page.relevance > 0
    assert (page.depth, page.status, page.language) == (0, 200, "en")
    assert page.fetched_at.tzinfo is not None
    assert page.host.startswith("127.0.0.1")


def test_breaking_out_of_the_loop_drains_and_saves(crawl):
    for number, _ in enumerate(crawl.run(pages=39), start=1):
        if number == 3:
            break
    assert is_free(crawl)
    taken = len(crawl.pages())
    assert 3 <= taken <= 39
    assert len(list(crawl.run(pages=39))) == 39 - taken


def test_an_error_in_the_loop_stops_the_run_beside_a_running_event_loop(crawl):
    run = crawl.run()

    async def iterate():
        with run:
            return [1 / 0 for _ in run]

    with pytest.raises(ZeroDivisionError):
        asyncio.run(iterate())
    assert is_free(crawl)
    assert run.ending.startswith("stopped")


def test_several_workers_bring_every_page_once(crawl):
    urls = [page.url for page in crawl.run(workers=2)]
    assert len(urls) == len(set(urls)) == 40


def test_ctrl_c_drains_and_the_crawl_goes_on_later(crawl, site, tmp_path):
    site.seconds = 0.25  # long enough for the signal to come in time on a busy machine
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import thresher
        for page in thresher.Crawl({str(crawl.folder)!r}).run():
            print(page.url, flush=True)
        """)
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=40)
    assert "KeyboardInterrupt" in error
    assert is_free(crawl)
    taken = len(crawl.pages())
    assert 3 <= taken < 40
    assert len(list(crawl.run())) == 40 - taken


def test_a_script_that_ends_early_leaves_no_worker_behind(crawl, site, tmp_path):
    site.seconds = 0.05
    script = tmp_path / "script.py"
    script.write_text(
        f"import thresher\nrun = thresher.Crawl({str(crawl.folder)!r}).run()\nprint(next(run).url, flush=True)\n"
    )
    subprocess.run([sys.executable, str(script)], check=True, timeout=40, capture_output=True)
    until = time.monotonic() + 10
    while not is_free(crawl) and time.monotonic() < until:
        time.sleep(0.1)
    assert is_free(crawl)


def test_an_error_of_ours_reaches_the_caller(crawl):
    with BuiltCrawl.open(crawl.folder).folder.only_one_run(), pytest.raises(thresher.ThresherError, match="under way"):
        next(crawl.run(pages=1))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("thresher run")]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A crawl of twelve pages, to look at."""
    with serving() as site:
        tree(site, 40)
        folder = tmp_path_factory.mktemp("crawled") / "solar"
        crawl = thresher.Crawl(folder, topic=TOPIC, seeds=[site.url("/0")], settings=QUICK)
        assert len(list(crawl.run(pages=12))) == 12
        yield crawl


def test_why_names_the_path_and_every_part(crawled):
    page = next(page for page in crawled.pages() if page.depth == 2)
    why = crawled.why(page.url)
    assert why.state == "done"
    assert len(why.path) == 3
    assert why.path[0].url.endswith("/0")
    assert why.path[-1].url == page.url
    assert why.relevance_parts
    assert page.url in repr(why)


def test_a_page_that_is_not_there_has_no_path(crawled):
    why = crawled.why("http://127.0.0.1:1/never")
    assert (why.state, why.path, why.score) == ("unknown", [], None)


def test_the_pages_are_a_table(crawled):
    table = crawled.pages()
    arrow = table.to_arrow(text=True)
    assert arrow.num_rows == len(table) == len(list(table)) == 12
    assert {"url", "relevance", "fetched_at", "text"} <= set(arrow.column_names)
    assert "12 pages" in table._repr_html_()
    assert crawled.pages(min_relevance=1.1).to_arrow().num_rows == 0


def test_pandas_gets_the_same_columns(crawled):
    pytest.importorskip("pandas")
    assert len(crawled.pages().to_pandas()) == 12


def test_the_harvest_is_a_picture(crawled):
    assert crawled.plot_harvest()._repr_png_().startswith(b"\x89PNG")


def test_pages_are_found_by_their_words(crawled):
    found = crawled.search("perovskite layers", limit=3)
    assert found
    assert "erovskite" in found[0].snippet
    with pytest.raises(thresher.ThresherError, match="no searchable word"):
        crawled.search("?!")


def test_the_status_is_the_crawl_in_numbers(crawled):
    status = crawled.status()
    assert (status.pages, status.running, status.failed) == (12, False, 0)
    assert status.harvest_rate == status.relevant / 12
    assert "harvest_rate" in status._repr_html_()


def test_pages_are_written_in_the_format_of_the_name(crawled, tmp_path):
    assert crawled.export(tmp_path / "pages.csv", text=True, markdown=True) == 12
    with (tmp_path / "pages.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 12
    assert crawled.export(tmp_path / "pages", format="parquet") == 12
    with pytest.raises(thresher.ThresherError, match="not a format"):
        crawled.export(tmp_path / "pages.docx")


def test_a_file_is_replaced_only_when_the_caller_says_so(crawled, tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text("mine")
    with pytest.raises(thresher.ThresherError, match=r"is there already; .* replace that export: replace=True"):
        crawled.export(path)
    assert path.read_text() == "mine"
    assert crawled.export(path, replace=True) == 12
    assert len(path.read_text(encoding="utf-8").splitlines()) == 12


def test_a_label_teaches_the_judge(crawled):
    url = next(iter(crawled.pages())).url
    taught = crawled.label({url: False})
    assert (taught.labels, taught.applied) == (1, True)
    assert not next(page for page in crawled.pages() if page.url == url).relevant
