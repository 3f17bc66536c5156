"""A URL is explained in a few lines: verdict, words, nearest example, shortest path; every number only as details."""

from dataclasses import replace

import pytest

from thresher.frontier.base import UrlEntry, UrlState
from thresher.operations.explain import MAX_LINES, Explanation, FrontierInfo
from thresher.operations.verdict import COLUMNS, CountedWord, NearestPage, PageVerdict, width, wrapped
from thresher.records import Outcome, UsageSignal
from thresher.storage.page_store import FoundLink, PageRecord
from thresher.storage.reader import PathHop, kept_judgement
from thresher.urls.canonical import fingerprint

SEED, HUB, LEAF = "http://a.example/", "http://a.example/hub", "http://a.example/leaf"


def record(url, *, parent="", depth=0, title="A page"):
    return PageRecord(
        url=url,
        fingerprint=fingerprint(url),
        status=200,
        fetched_at=0.0,
        parent=fingerprint(parent) if parent else 0,
        depth=depth,
        title=title,
        outcome=Outcome.DONE,
        page=True,
        score=0.226,
        relevance=0.9,
        relevant=True,
    )


def explained(*, hops=1, title="A page", url=LEAF):
    """Explain a leaf behind some hubs; the link by which it was found has changed its score since."""
    hubs = [record(f"{HUB}{number}", parent=SEED, depth=number, title=title) for number in range(1, hops + 1)]
    records = [record(SEED, title=title), *hubs, record(url, parent=HUB, depth=hops + 1, title=title)]
    words = [CountedWord(written=title, weight=weight, share=0.1) for weight in (0.5, 0.4, -0.1)]
    verdict = PageVerdict(
        judgement=kept_judgement(records[-1]),
        threshold=0.4,
        rank=12,
        pages=300,
        words=words,
        nearest=NearestPage(url=SEED, title=title, similarity=0.25, kind="seed"),
    )
    return Explanation(
        url=url,
        frontier_info=FrontierInfo(),
        path=[PathHop(record=each, anchor=title, score=0.5) for each in records],
        history=[records[-1]],
        verdict=verdict,
        found_on=records[-2],
        link=FoundLink(url=url, anchor="a leaf", score=0.232, parts={"anchor": 1.5}),
        is_log_odds=True,
    )


def test_a_page_is_explained_by_verdict_words_nearest_example_and_path():
    assert explained().lines() == [
        LEAF,
        "Title:    A page",
        "Relevant: 0.90, above the cut of 0.40; rank 12 of 300.",
        "For:      A page 10 %, A page 10 %",
        "Against:  A page 10 %",
        f"Nearest:  A page {SEED} (seed, similarity 0.25)",
        "Path, 2 links from a seed:",
        f"  A page {SEED}",
        f"  “A page” → A page {HUB}1",
        "  “A page” → this page",
    ]


def test_an_explanation_in_chinese_has_the_same_facts():
    assert explained().lines("zh") == [
        LEAF,
        "标题：    A page",
        "相关：0.90，高于阈值 0.40；在 300 个中排第 12。",
        "支持：    A page 10 %，A page 10 %",
        "反对：    A page 10 %",
        f"最相似：  A page {SEED}（种子，相似度 0.25）",
        "路径，距种子 2 个链接：",
        f"  A page {SEED}",
        f"  “A page” → A page {HUB}1",
        "  “A page” → 本页",
    ]
    assert "  抓取时的分数：0.226" in explained().detail_lines("zh")
    assert explained().summary.startswith("Relevant: 0.90")


@pytest.mark.parametrize(
    "sentence",
    ["很长的判定说明，" * 30, "没有标点" * 60, f"网址 http://a.example/{'x' * 300} 在范围之外。", "plain words " * 40],
)
def test_a_sentence_of_any_language_is_broken_into_lines(sentence):
    lines = list(wrapped(sentence))
    assert max(map(width, lines)) <= COLUMNS
    if "…" not in "".join(lines):  # nothing was too wide
        assert "".join("".join(lines).split()) == "".join(sentence.split())


@pytest.mark.parametrize("title", ["", "x" * 300, "钙钛矿太阳能电池" * 40])
def test_an_explanation_is_short_whatever_the_page_is_called(title):
    lines = explained(hops=30, title=title, url=f"{LEAF}/{'y' * 300}").lines()
    assert len(lines) <= MAX_LINES
    assert max(map(width, lines)) <= COLUMNS


def test_the_score_is_that_of_the_export_and_the_earlier_one_is_called_so():
    details = "\n".join(explained().detail_lines())
    assert "Score when it was fetched: 0.226" in details
    assert "Score when that link was found: 0.232" in details
    assert explained().as_json()["score"] == 0.226


def test_details_have_the_usage_signals_with_where_each_was_read():
    last = replace(record(LEAF), signals=[UsageSignal("robots.txt", "content-signal", "ai-train=no")])
    described = replace(explained(), history=[last])
    assert "    robots.txt    content-signal: ai-train=no" in list(described.detail_lines())
    [visit] = described.as_json(details=True)["details"]["history"]
    assert visit["signals"] == [{"source": "robots.txt", "statement": "content-signal", "value": "ai-train=no"}]


def test_numbers_are_in_the_details_alone():
    described = explained().as_json()
    assert "details" not in described
    assert explained().as_json(details=True)["details"]["link"]["parts"] == {"anchor": 1.5}
    assert "Parts of the link score as log-odds" not in "\n".join(explained().lines())


def test_a_waiting_url_says_its_rank_and_which_link_leads_to_it():
    entry = UrlEntry(
        url=LEAF, host="a.example", state=UrlState.WAITING, score=0.25, hops=1, depth_left=0, parent=1, tries=0
    )
    waiting = Explanation(
        url=LEAF,
        frontier_info=FrontierInfo(entry=entry, rank=7, waiting=1500),
        path=[PathHop(record=record(SEED))],
        history=[],
        next_link=FoundLink(url=LEAF, anchor="a leaf", score=0.25, parts={}),
    )
    assert waiting.lines() == [
        LEAF,
        "Waiting with score 0.250: rank 7 of 1,500 in the queue.",
        "Path, 1 link from a seed:",
        f"  A page {SEED}",
        "  “a leaf” → this URL",
    ]
    assert waiting.summary.endswith(f"Found on {SEED} by the link “a leaf”, 1 link from the seed {SEED}.")


def test_a_url_outside_the_scope_says_so():
    refused = Explanation(url=LEAF, frontier_info=FrontierInfo(), path=[], history=[], outside="a calendar")
    assert refused.lines() == [LEAF, "Never queued: a calendar."]
