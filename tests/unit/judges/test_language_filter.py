"""A page in another language than the wanted ones is not relevant, whatever its words."""

import asyncio

import pytest
from click.testing import CliRunner

from thresher.assembly import build_judge, build_pipeline
from thresher.cli import thresher
from thresher.crawl import CrawlSetup
from thresher.judges.base import Learner
from thresher.judges.language_filter import CHECK_REJECTED, only_languages, seed_languages
from thresher.operations.explain import explain
from thresher.parsing.html import parse
from thresher.records import LABEL_PART, LANGUAGE_PART, FetchedPage, Judgement, ParsedPage, Revision
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition

ENGLISH = "<title>Basketball</title><p>This is the page of the basketball team, and it is for you and the fans.</p>"
CHINESE = "<title>篮球 basketball</title><p>篮球是一项运动 basketball，这是关于篮球的网页，介绍比赛和球队。</p>"
WORDS = "title: {en: basketball, zh: 篮球}\njudge: {name: match}\npoliteness: {contact: me@example.org}\n"
SEEDS = ["http://a.example/en", "http://a.example/zh"]


class Pupil:
    """A learner that finds every page relevant, and lists what it was trained on."""

    def __init__(self):
        self.seen, self.labels = [], {}

    def judge(self, page):
        breakdown = {LABEL_PART: 1.0} if self.labels.get(page.url) else {}
        return Judgement(relevance=0.9, relevant=True, breakdown=breakdown)

    def words(self, page):
        return []

    def learn(self, page, *, seed=False):
        self.seen.append(page.url)
        return [Revision(url=page.url, judgement=self.judge(page))]

    def teach(self, labelled):
        self.labels.update(labelled)
        return []

    def vector(self, page):
        return b""

    def judge_vector(self, url, language, vector):
        return Judgement(relevance=0.9, relevant=True) if vector else None

    def remembers(self, url):
        return url in self.seen

    def load_state(self, state_store):
        pass

    def save_state(self):
        pass


def page(language, url="http://a.example/"):
    return ParsedPage(url=url, text="text", language=language)


def project(tmp_path, languages=""):
    (tmp_path / "topic.yaml").write_text(WORDS + languages, encoding="utf-8")
    (tmp_path / "seeds.txt").write_text("\n".join(SEEDS), encoding="utf-8")
    return CrawlSetup.open(tmp_path)


async def crawled(crawl):
    """Process both pages; return their verdicts by the last part of the URL."""
    line = build_pipeline(crawl, "w1")
    await line.seed(SEEDS)
    found = {}
    while leases := await line.frontier.lease(2, seconds=60):
        for lease in leases:
            body = (ENGLISH if lease.url.endswith("en") else CHINESE).encode()
            headers = {"content-type": "text/html; charset=utf-8"}
            fetched = FetchedPage(url=lease.url, status=200, headers=headers, body=body, fetched_at=1.0)
            record = await line.process(lease, fetched)
            found[lease.url[-2:]] = record.relevant
        await asyncio.sleep(0)
    counts = await line.frontier.counts()
    await line.close()
    return found, counts.relevant


@pytest.mark.parametrize(
    ("languages", "relevant"),
    [
        ("", {"en": True, "zh": True}),
        ("languages: [zh]\n", {"en": False, "zh": True}),
        ("languages: [en]\n", {"en": True, "zh": False}),
        ("languages: [en, zh]\n", {"en": True, "zh": True}),
    ],
)
def test_a_page_in_another_language_is_not_relevant_when_languages_is_set(tmp_path, languages, relevant):
    judge = build_judge(project(tmp_path, languages))
    found = {"en": judge.judge(page_of(ENGLISH)).relevant, "zh": judge.judge(page_of(CHINESE)).relevant}
    assert found == relevant


def page_of(html):
    return parse("http://a.example/", html.encode(), "text/html; charset=utf-8")


def test_a_rejected_page_is_stored_counted_and_explained_as_such(tmp_path):
    crawl = project(tmp_path, "languages: [zh]\n")
    verdicts, relevant = asyncio.run(crawled(crawl))
    assert verdicts == {"en": False, "zh": True}
    assert relevant == 1
    reported = asyncio.run(explain(crawl, SEEDS[0]))
    assert reported.summary.startswith("Not relevant: its language, en, is not a wanted one (languages in topic.yaml)")
    assert asyncio.run(explain(crawl, SEEDS[1])).summary.startswith("Relevant: 1.00, above the cut")
    shown = CliRunner().invoke(thresher, ["status", str(tmp_path)])
    assert "other languages  1" in shown.output


def test_status_does_not_speak_of_languages_when_all_are_wanted(tmp_path):
    crawl = project(tmp_path)
    asyncio.run(crawled(crawl))
    assert "languages" not in CliRunner().invoke(thresher, ["status", str(tmp_path)]).output


def test_a_page_of_unknown_language_is_left_to_the_judge():
    assert only_languages(Pupil(), ["zh"]).judge(page("")).relevant


def test_a_rejection_names_its_cause():
    judgement = only_languages(Pupil(), ["zh"]).judge(page("en"))
    assert (judgement.relevance, dict(judgement.breakdown)) == (0.0, {LANGUAGE_PART: 1.0})


def test_a_region_of_a_language_is_not_another_language():
    assert only_languages(Pupil(), ["zh-TW"]).judge(page("zh")).relevant


def test_a_language_that_cannot_be_identified_switches_the_filter_off():
    pupil = Pupil()
    assert only_languages(pupil, ["yo"]) is pupil


def test_a_learner_stays_a_learner_and_does_not_learn_from_rejected_pages():
    pupil = Pupil()
    judge = only_languages(pupil, ["zh"])
    assert isinstance(judge, Learner)
    assert judge.learn(page("en", "http://a.example/en")) == ()
    assert judge.learn(page("zh", "http://a.example/zh"))
    assert pupil.seen == ["http://a.example/zh"]


def test_a_label_of_a_person_counts_more_than_the_language():
    pupil = Pupil()
    judge = only_languages(pupil, ["zh"])
    judge.teach({"http://a.example/": True})
    assert judge.judge(page("en")).relevant
    judge.learn(page("en"))
    assert judge.remembers("http://a.example/")


def test_a_stored_page_in_another_language_stays_rejected_when_it_is_judged_again():
    judge = only_languages(Pupil(), ["zh"])
    assert not judge.judge_vector("http://a.example/", "en", b"terms").relevant
    assert judge.judge_vector("http://a.example/", "zh", b"terms").relevant
    assert judge.judge_vector("http://a.example/", "en", b"") is None


# the languages of phrases and seeds


class WorkerState:
    """The state of one worker, with the entries of others."""

    write_seconds = 0.0

    def __init__(self, *others):
        self.own, self.others = {}, list(others)

    def write(self, kind, content):
        self.own[kind] = content

    def read(self, kind):
        return self.own.get(kind)

    def read_others(self, kind):
        entries, self.others = self.others, []
        return entries


def of_phrases(*languages, seeds=()):
    title = {"en": "bread", "zh": "面包", "und": "Gartenrosen"}
    return seed_languages(
        Pupil(), TopicDefinition(title={code: title[code] for code in languages}), TopicProfile(), seeds
    )


def accepted(judge, *codes):
    return [code for code in codes if judge.judge(page(code, f"http://a.example/{code}")).relevant]


def test_pages_in_the_language_of_a_seed_are_accepted_beside_those_of_the_phrases():
    judge = of_phrases("en", "zh", seeds=["http://a.example/seed"])
    assert accepted(judge, "en", "zh", "de", "fr", "") == ["en", "zh", ""]
    judge.learn(page("de", "http://b.example/moved"), seed=True)
    judge.learn(page("it", "http://a.example/seed"))
    assert judge.learn(page("fr", "http://a.example/fr")) == ()
    assert accepted(judge, "en", "zh", "de", "it", "fr") == ["en", "zh", "de", "it"]


def test_with_an_open_phrase_nothing_is_refused_before_the_first_seed():
    judge = of_phrases("und")
    assert accepted(judge, "en", "de") == ["en", "de"]
    judge.learn(page("", "http://a.example/empty"), seed=True)
    assert accepted(judge, "en", "de") == ["en", "de"]
    judge.learn(page("de", "http://a.example/seed"), seed=True)
    assert accepted(judge, "en", "de") == ["de"]


def test_a_seed_in_a_language_that_cannot_be_identified_switches_the_filter_off():
    judge = of_phrases("en")
    judge.learn(page("yo", "http://a.example/seed"), seed=True)
    assert accepted(judge, "yo", "de") == ["yo", "de"]


def test_the_languages_of_the_seeds_survive_a_restart():
    state, judge = WorkerState(), of_phrases("en")
    judge.load_state(state)
    judge.learn(page("de", "http://a.example/seed"), seed=True)
    again = of_phrases("en")
    again.load_state(state)
    assert accepted(again, "de", "fr") == ["de"]


def test_the_seeds_of_other_workers_count_and_damaged_entries_do_not():
    judge, state = of_phrases("en"), WorkerState(b'["de"]', b"{", b"[1]")
    judge.load_state(state)
    assert accepted(judge, "de", "fr") == ["de"]
    state.others = [b'["fr"]']
    for number in range(CHECK_REJECTED + 1):
        judge.learn(page("fr", f"http://a.example/{number}"))
    assert accepted(judge, "de", "fr") == ["de", "fr"]


def test_a_judge_that_does_not_learn_never_sees_the_seeds_and_accepts_all(tmp_path):
    judge = build_judge(project(tmp_path, "languages: auto\n"))
    assert judge.judge(page_of(ENGLISH)).relevant
    assert judge.judge(page_of(CHINESE)).relevant


def test_a_page_in_no_language_of_phrases_and_seeds_is_refused_by_auto(tmp_path):
    text = "title: {en: basketball}\nlanguages: auto\npoliteness: {contact: me@example.org}\nseeds: ['http://a.example/en']\n"
    (tmp_path / "topic.yaml").write_text(text, encoding="utf-8")
    crawl = CrawlSetup.open(tmp_path)
    judge = build_judge(crawl)
    judge.learn(page_of(ENGLISH), seed=True)
    assert dict(judge.judge(page_of(CHINESE)).breakdown) == {LANGUAGE_PART: 1.0}
