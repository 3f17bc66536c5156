"""A page is tried as the crawl would take it: judged, explained, its links scored, nothing kept."""

from dataclasses import replace

import pytest

from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.frontier.base import as_float32
from thresher.operations import try_page
from thresher.operations.try_page import SEEDS_READ, try_pages
from thresher.operations.verdict import WORDS_KEPT
from thresher.reasons.legacy import legacy_reason
from thresher.records import FetchedPage, Judgement, TermWeight

PAGE = "http://a.example/solar"
SEED = "http://seed.example/"
CONFIG = """\
title: {en: solar cells}
judge: {name: cosine}
politeness: {contact: me@example.org}
"""
HTML = """<title>On cells</title><p>Solar cells, perovskite cells and a cell.</p>
<a href="/more">more cells</a> <a href="/tea">tea</a> <a href="/no" rel="nofollow">no</a> <a href="/solar">self</a>"""


class Servers:
    """Pages by URL; anything else is not there."""

    def __init__(self):
        self.pages = {PAGE: HTML}
        self.asked = []

    def fetch(self, crawl, urls):
        self.asked += urls
        return {url: self._answer(url) for url in urls}

    def _answer(self, url):
        body = self.pages.get(url)
        if body is None:
            return legacy_reason("http 404")
        headers = {"content-type": "text/html; charset=utf-8"}
        return FetchedPage(url=url, status=200, headers=headers, body=body.encode(), fetched_at=0.0)


class Pupil:
    """A judge that knows nothing but what it was shown."""

    def __init__(self):
        self.shown = []

    @property
    def pages_seen(self):
        return len(self.shown)

    def judge(self, page):
        return Judgement(relevance=0.7, relevant=bool(self.shown), reward=0.5)

    def words(self, page):
        return [TermWeight(term="cell", weight=0.4), TermWeight(term="perovskit", weight=-0.6)]

    def learn(self, page, *, seed=False):
        assert seed
        self.shown.append(page.url)
        return ()

    def teach(self, reported):
        return ()

    def remembers(self, url):
        return False

    def vector(self, page):
        return b""

    def judge_vector(self, url, language, vector):
        return None

    def load_state(self, state_store):
        pass

    def save_state(self):
        pass


@pytest.fixture
def servers():
    return Servers()


@pytest.fixture
def crawl(tmp_path):
    (tmp_path / "topic.yaml").write_text(f"{CONFIG}\nstrategy: {{name: best-first}}\n", encoding="utf-8")
    (tmp_path / "seeds.txt").write_text("".join(f"{SEED}{number}\n" for number in range(7)), encoding="utf-8")
    return CrawlSetup.open(tmp_path)


@pytest.fixture
def pupil(monkeypatch):
    pupil = Pupil()
    monkeypatch.setattr(try_page, "build_judge", lambda crawl: pupil)
    return pupil


def attempt(crawl, servers, *urls, **options):
    return try_pages(crawl, urls or [PAGE], fetch=servers.fetch, **options)


def test_a_page_is_judged_by_the_judge_of_the_crawl(crawl, servers):
    [tried] = attempt(crawl, servers)
    assert (tried.title, tried.language, tried.verdict.judgement.relevant) == ("On cells", "en", True)
    assert tried.verdict.judgement.breakdown["cosine en"] == tried.verdict.judgement.relevance


def test_words_are_written_as_the_page_writes_them(crawl, servers):
    [tried] = attempt(crawl, servers)
    assert [word.written for word in tried.verdict.words] == ["cells", "Solar"]


def test_words_for_come_before_words_against(crawl, servers, pupil):
    [tried] = attempt(crawl, servers)
    assert [(word.written, word.weight) for word in tried.verdict.words] == [("cells", 0.4), ("perovskite", -0.6)]


def test_only_the_weightiest_words_are_kept(crawl, servers, pupil, monkeypatch):
    many = [TermWeight(term=f"word{number}", weight=float(number - 50)) for number in range(100)]
    monkeypatch.setattr(pupil, "words", lambda page: many)
    [tried] = attempt(crawl, servers)
    assert len(tried.verdict.words) == 2 * WORDS_KEPT
    assert (tried.verdict.words[0].written, tried.verdict.words[-1].weight) == ("word99", -50.0 + WORDS_KEPT - 1)


def test_links_are_those_a_crawl_would_follow_with_anchors_scores_and_parts(crawl, servers):
    [tried] = attempt(crawl, servers)
    relevance = tried.verdict.judgement.relevance
    assert [(link.url, link.anchor, link.score) for link in tried.links] == [
        ("http://a.example/more", "more cells", as_float32(relevance)),
        ("http://a.example/tea", "tea", as_float32(relevance)),
    ]
    assert tried.links[0].parts == {"page": relevance}


def test_json_holds_the_wanted_number_of_links(crawl, servers):
    [tried] = attempt(crawl, servers)
    reported = tried.as_json(links=1)
    assert (reported["judged"], reported["links_found"], len(reported["links"])) == (True, 2, 1)
    assert reported["words_for"][0]["word"] == "cells"


def test_usage_signals_are_reported_whether_the_page_is_judged_or_not(crawl, servers):
    servers.pages[PAGE] = f'<meta name="robots" content="noai">{HTML}'
    expected = [{"source": "markup", "statement": "robots", "value": "noai"}]
    obeying = crawl.config.model_copy(
        update={"politeness": crawl.config.politeness.model_copy(update={"ai_optout": "obey"})}
    )
    for setup, judged in ((crawl, True), (replace(crawl, config=obeying), False)):
        [tried] = attempt(setup, servers)
        reported = tried.as_json(links=1)
        assert (reported["judged"], reported["signals"]) == (judged, expected)


def test_what_cannot_be_fetched_says_why(crawl, servers):
    missing, tried = attempt(crawl, servers, "http://a.example/none", PAGE)
    expected = {"asked": "http://a.example/none", "judged": False, "reason": "http 404", "signals": []}
    assert missing.as_json(links=1) == expected
    assert tried.verdict is not None


def test_a_page_that_is_asked_for_twice_is_fetched_once(crawl, servers):
    assert len(attempt(crawl, servers, PAGE, f"{PAGE}#part")) == 1
    assert servers.asked == [PAGE]


def test_a_judge_that_does_not_learn_reads_no_seeds(crawl, servers):
    attempt(crawl, servers)
    assert servers.asked == [PAGE]


def test_a_judge_that_learns_reads_a_few_seeds_first(crawl, servers, pupil):
    servers.pages |= {f"{SEED}{number}": "<p>solar</p>" for number in range(7)}
    reported = []
    [tried] = attempt(crawl, servers, report=reported.append)
    assert pupil.shown == [f"{SEED}{number}" for number in range(SEEDS_READ)]
    assert (tried.verdict.judgement.relevant, tried.verdict.judgement.relevance) == (True, 0.7)
    assert reported == ["Read 5 seeds to know the topic."]


def test_a_tried_page_teaches_nobody(crawl, servers, pupil):
    attempt(crawl, servers, read_seeds=False)
    assert pupil.shown == []
    assert servers.asked == [PAGE]


def test_seeds_that_cannot_be_read_are_not_counted(crawl, servers, pupil):
    servers.pages[f"{SEED}1"] = "<p>solar</p>"
    reported = []
    attempt(crawl, servers, report=reported.append)
    assert reported == ["Read 1 seed to know the topic."]


def test_without_any_seed_the_judge_has_only_words_and_says_so(crawl, servers, pupil):
    reported = []
    attempt(crawl, servers, report=reported.append)
    assert reported == ["No seed could be read; the judge knows the topic by its words alone."]


def test_a_judge_that_has_seen_pages_reads_no_seeds(crawl, servers, pupil):
    pupil.shown.append("http://earlier.example/")
    attempt(crawl, servers)
    assert servers.asked == [PAGE]


def test_a_tried_seed_is_fetched_once(crawl, servers, pupil):
    attempt(crawl, servers, f"{SEED}0")
    assert servers.asked.count(f"{SEED}0") == 1


def test_a_public_page_needs_a_contact_even_when_the_seeds_do_not(crawl, servers, tmp_path):
    (tmp_path / "topic.yaml").write_text("title: {en: solar}\nnetwork: {allow: [127.0.0.0/8]}\n", encoding="utf-8")
    (tmp_path / "seeds.txt").write_text("http://127.0.0.1:8000/\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"politeness\.contact is empty; sites like a\.example"):
        attempt(CrawlSetup.open(tmp_path), servers)
    assert servers.asked == []


def test_a_refused_private_address_comes_with_its_remedy(crawl):
    def refuse(crawl, urls):
        return dict.fromkeys(urls, legacy_reason("refused: a private address"))

    [tried] = try_pages(crawl, ["http://10.1.2.3/"], fetch=refuse)
    assert tried.reason.endswith('If this is your own site: network.allow: ["10.1.2.3/32"]')


def test_what_is_no_url_is_refused_before_anything_is_fetched(crawl, servers):
    with pytest.raises(ConfigError, match=r"did you mean https://a\.example\?"):
        attempt(crawl, servers, PAGE, "a.example")
    assert servers.asked == []
