"""What the jobs compute, and that the partition of the pages does not matter."""

import asyncio
import random

import networkx
import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.batch.batch_crawl import PAGES, text_of, url
from thresher.assembly import build_judge
from thresher.batch.executors import in_process, run_batch, write_part_files
from thresher.batch.jobs import Duplicates, Links, open_job
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.feedback.updates import rejudge_segments
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint

COMPRESS = zstandard.ZstdCompressor(level=1).compress


def judgements(crawl):
    with PageStoreReader(crawl.folder.pages) as collection:
        return {page.url: (page.relevance, page.relevant, page.reward, page.parts) for page in collection.ranked()}


def test_rejudge_stores_what_the_end_of_a_run_stores(crawl, made, tmp_path):
    before = judgements(crawl)
    done = run_batch("rejudge", crawl, tmp_path / "rejudged.parquet", apply=True)
    assert done.counts["pages"] == done.counts["judged"] == PAGES
    assert 0 < done.applied < done.counts["changed"], "some pages changed, of them some on another machine"

    async def end_of_run():
        ended = CrawlSetup.open(made)
        frontier = ended.backend.frontier()
        await rejudge_segments(build_judge(ended), ended.folder.segments(), frontier)
        await frontier.close()
        return judgements(ended)

    after = judgements(crawl)
    assert after == asyncio.run(end_of_run()) != before


def test_rejudge_reports_the_new_and_the_stored_judgement_of_each_page(crawl):
    job = open_job("rejudge", crawl)
    stored, judge = judgements(crawl), build_judge(crawl)
    with PageStoreReader(crawl.folder.pages) as collection:
        names = ["fingerprint", "url", "title", "language", "relevance", "relevant", "reward", "parts", "topics"]
        found = map(dict, (row for _, row in collection.latest([*names, "terms", "text"])))
        pages = [{**page, "segment": "w1", "relevant": bool(page["relevant"])} for page in found]
    for row in job.map(pa.Table.from_pylist(pages)).to_pylist():
        page = next(page for page in pages if page["url"] == row["url"])
        assert row["relevance"] == judge.judge_vector(page["url"], "en", page["terms"]).relevance
        assert row["stored_relevance"] == stored[row["url"]][0]


def test_a_judge_that_does_not_learn_has_nothing_to_judge_again(crawl):
    topic = crawl.folder.topic
    topic.write_text(topic.read_text() + "judge: {name: match}\n")
    with pytest.raises(ConfigError, match="does not learn"):
        open_job("rejudge", CrawlSetup.open(crawl.folder.root))


def test_near_duplicates_are_grouped_under_the_least_fingerprint(crawl, tmp_path):
    done = run_batch("duplicates", crawl, tmp_path / "groups.parquet")
    assert done.counts == {"pages": PAGES, "groups": PAGES // 10, "near_duplicates": PAGES // 10}
    rows = pa.parquet.read_table(tmp_path / "groups.parquet").to_pylist()
    group = {row["url"]: row["group"] for row in rows}
    assert group[url(8)] == group[url(9)] == min(fingerprint(url(8)), fingerprint(url(9)))
    assert group[url(7)] == fingerprint(url(7))


def text_row(number, text):
    packed = COMPRESS(text.encode()) if text else None
    return {"fingerprint": number, "url": f"http://a.example/{number}", "relevance": 0.5, "text": packed}


def edited(text, draw):
    words = text.split()
    for place in draw.sample(range(len(words)), draw.randrange(1, 12)):
        words[place] = f"new{draw.randrange(999)}"
    return " ".join(words)


TEXTS = [text_of(number) for number in range(8)]
TEXTS += [edited(text, random.Random(number)) for number, text in enumerate(TEXTS * 4)]
ROWS = [{**text_row(number, text), "main": None, "markup": None} for number, text in enumerate([*TEXTS, "", "short"])]
GROUPED = Duplicates().reduce(Duplicates().map(pa.Table.from_pylist(ROWS)))


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(len(ROWS))), sizes=st.lists(st.integers(1, 12), min_size=1, max_size=5))
def test_groups_depend_neither_on_the_order_of_pages_nor_on_their_partition(order, sizes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    rest, paths = [ROWS[place] for place in order], []
    while rest:
        size = sizes[len(paths) % len(sizes)]
        (folder / str(len(paths))).mkdir()
        paths += write_part_files(iter(rest[:size]), folder / str(len(paths)), Duplicates.columns)
        rest = rest[size:]
    assert Duplicates().reduce(in_process(Duplicates(), paths)).equals(GROUPED)


def test_texts_are_grouped_with_their_edited_versions_and_others_are_alone():
    group = GROUPED["group"].to_pylist()
    assert len(set(group)) < len(ROWS) - 8
    assert {group[place] for place in range(8)} == set(range(8))
    assert group[-2:] == [len(ROWS) - 2, len(ROWS) - 1]


def link_rows(edges, pages=6):
    targets = [[fingerprint(url(to)) for start, to in edges if start == page] for page in range(pages)]
    rows = [
        {"fingerprint": fingerprint(url(page)), "url": url(page), "relevance": page / pages, "targets": targets[page]}
        for page in range(pages)
    ]
    return pa.Table.from_pylist(rows, schema=Links.schema).sort_by("fingerprint")


EDGES = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (4, 5), (5, 4), (4, 2), (0, 77)]


def test_links_between_pages_give_pagerank_hubs_and_authorities():
    result = {row["url"]: row for row in Links().reduce(link_rows(EDGES)).to_pylist()}
    known = networkx.DiGraph([edge for edge in EDGES if edge[1] < 6])
    for page, rank in networkx.pagerank(known, tol=1e-12, max_iter=1000).items():
        assert result[url(page)]["pagerank"] == pytest.approx(rank, abs=1e-6)
    for start, to in known.edges:
        known[start][to]["weight"] = to / 6
    hubs, authorities = networkx.hits(known, max_iter=1000)
    for page in range(6):
        assert result[url(page)]["hub"] == pytest.approx(hubs[page] / max(hubs.values()), abs=1e-3)
        assert result[url(page)]["authority"] == pytest.approx(authorities[page] / max(authorities.values()), abs=1e-3)
    assert [result[url(2)][name] for name in ("links_in", "links_out")] == [4, 1]


def test_a_link_to_a_redirected_url_counts_for_the_page_that_it_leads_to():
    moved = {fingerprint(url(77)): fingerprint(url(78)), fingerprint(url(78)): fingerprint(url(3))}
    result = {row["url"]: row for row in Links(moved).reduce(link_rows(EDGES)).to_pylist()}
    assert result[url(3)]["links_in"] == 1
    assert result[url(0)]["links_out"] == 3


def test_a_crawl_without_pages_has_an_empty_result():
    for job in (Duplicates(), Links()):
        assert len(job.reduce(job.schema.empty_table())) == 0


def test_a_damaged_text_does_not_stop_a_job():
    row = {**text_row(1, "a b c"), "text": b"damaged", "main": None, "markup": None, "links": b"damaged"}
    assert Duplicates().map(pa.Table.from_pylist([row]))["signature"].to_pylist() == [None]
    assert Links().map(pa.Table.from_pylist([row]))["targets"].to_pylist() == [[]]


def test_scores_are_numbers_also_without_links():
    result = Links().reduce(link_rows([]))
    assert np.isfinite(result["pagerank"].to_numpy()).all()
    assert set(result["hub"].to_pylist()) == {0.0}
