"""The adaptive judge knows a topic by its seeds, learns what is ordinary, and thinks again."""

from random import Random

import pytest

from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.judges.adaptive.snapshot import LearnerState
from thresher.judges.base import Learner
from thresher.modelstate.codec import ENTRY_BYTES
from thresher.records import ParsedPage
from thresher.topics.profile import TopicProfile

VECTORS = {"en": {"solar": 1.0, "cell": 1.0}, "zh": {"太阳": 1.0, "阳能": 1.0, "电池": 1.0}}
THINGS = ["harbour ships sail out", "green tea leaves steep", "old birds sing at dawn", "granite rocks and moss"]
事物 = ["港口船只出海航行", "绿茶叶子泡在水中", "老鸟清晨歌唱不停", "花岗岩石长满青苔"]


def page(name, text, *, language="en", title=""):
    return ParsedPage(url=f"http://a.example/{name}", title=title, text=f"{title} {text}", language=language)


def solar(number):
    return page(f"solar{number}", f"perovskite solar cells and modules, efficiency of a layer, report {number}")


def 太阳能(number):
    return page(f"taiyang{number}", f"钙钛矿太阳能电池组件效率报告第{number}份", language="zh")


def other(number):
    return page(f"other{number}", f"{THINGS[number % 4]} {THINGS[number % 3]} report {number}")


def 其他(number):
    return page(f"qita{number}", f"{事物[number % 4]}，{事物[number % 3]}第{number}", language="zh")


def judge_with(*, seeds=(), others=0, topic=solar, background=other, **options):
    topic_profile = TopicProfile(vectors=VECTORS, seeds=frozenset(page.url for page in seeds), **options)
    judge = AdaptiveJudge(topic_profile)
    for seed in seeds:
        judge.learn(seed)
    for number in range(others):
        judge.learn(background(number))
    return judge


def test_it_is_a_learner():
    assert isinstance(judge_with(), Learner)


def test_a_phrase_alone_tells_pages_apart():
    judge = judge_with()
    assert judge.judge(solar(1)).reward > judge.judge(other(1)).reward == 0.0


@pytest.mark.parametrize(("topic", "background"), [(solar, other), (太阳能, 其他)])
def test_seeds_and_background_tell_pages_apart_in_both_languages(topic, background):
    judge = judge_with(seeds=[topic(0), topic(1), topic(2)], others=60, background=background)
    good, bad = judge.judge(topic(9)), judge.judge(background(99))
    assert (good.relevant, bad.relevant) == (True, False)
    assert good.reward > 0.9 > 0.1 > bad.reward
    assert good.relevance > 0.8 > 0.2 > bad.relevance


def about_http(name, title):
    return page(name, f"浏览器发送请求{事物[0]}，{事物[1]}{事物[2]}{事物[3]}", language="zh", title=title)


def test_a_word_of_the_phrase_in_the_title_counts_also_where_the_seeds_do_not_name_it():
    topic_profile = TopicProfile(
        phrases=["HTTP protocol", "超文本传输协议"],
        vectors={"en": {"http": 1.0, "protocol": 1.0}, "zh": {"超文": 1.0, "文本": 1.0}},
        seeds=frozenset([about_http("seed", "万维网").url]),
    )
    judge = AdaptiveJudge(topic_profile)
    judge.learn(page("seed", "服务器响应请求", language="zh", title="万维网"), seed=True)
    for number in range(40):
        judge.learn(其他(number))
    judge.learn(about_http("methods", "HTTP 请求方法"))
    judge._languages["zh"].refit()
    named, unnamed = (judge.judge(about_http("x", title)) for title in ("HTTP 请求方法", "表格 请求方法"))
    assert named.relevance > unnamed.relevance + 0.1
    assert named.breakdown["titled"] == pytest.approx(0.5, abs=0.1)


def test_a_word_that_every_title_has_names_no_page():
    judge = AdaptiveJudge(TopicProfile(phrases=["MDN"], vectors={"en": {"mdn": 1.0}}, seeds=frozenset()))
    for number in range(300):
        judge.learn(page(f"other{number}", f"{THINGS[number % 4]} report {number}", title="Reports - MDN"))
    judge._languages["other"].refit()
    assert judge.judge(page("x", "ships sail", title="Ships - MDN")).breakdown["titled"] < 0.2


def test_both_languages_live_in_one_topic():
    judge = judge_with(seeds=[solar(0), 太阳能(0), solar(1), 太阳能(1)], others=40)
    for number in range(40):
        judge.learn(其他(number))
    relevant = [judge.judge(each).relevant for each in (solar(9), 太阳能(9), other(99), 其他(99))]
    assert relevant == [True, True, False, False]


def test_seeds_alone_without_any_phrase_make_a_topic():
    judge = AdaptiveJudge(TopicProfile(seeds=frozenset(solar(number).url for number in range(3))))
    for number in range(3):
        judge.learn(solar(number))
    for number in range(40):
        judge.learn(other(number))
    assert judge.judge(solar(9)).relevant
    assert not judge.judge(other(99)).relevant


def test_a_seed_counts_under_the_address_it_was_redirected_to():
    judge = AdaptiveJudge(TopicProfile(seeds=frozenset(["http://a.example/old"])))
    judge.learn(solar(1), seed=True)
    assert judge.judge(solar(2)).relevance > 0.5


def test_judging_changes_nothing():
    judge = judge_with(seeds=[solar(0)], others=20)
    first = judge.judge(solar(5))
    judge.judge(other(77))
    judge.words(other(78))
    assert judge.judge(solar(5)) == first
    assert judge.pages_seen == 21


def test_it_thinks_again_about_pages_that_it_judged_early():
    judge = judge_with()
    early = page("early", "solar sail ships in the harbour")
    judge.learn(early)
    before = judge.judge(early)
    revisions = {}
    for number in range(60):
        for fetched in (solar(number),) if number < 3 else (other(number),):
            revisions.update({each.url: each.judgement for each in judge.learn(fetched, seed=number < 3)})
    assert revisions[early.url].relevance < before.relevance - 0.1
    assert revisions[early.url].relevance == pytest.approx(judge.judge(early).relevance, abs=0.02)


def test_only_changes_are_reported():
    judge = judge_with(seeds=[solar(0), solar(1)], others=200)
    reported = [judge.learn(other(number)) for number in range(200, 260)]
    assert sum(map(len, reported)) < 30


def test_what_a_person_says_counts():
    judge = judge_with(seeds=[solar(0), solar(1)], others=60)
    unsure, wrong = page("unsure", "tandem stack of layers"), other(7)
    judge.learn(unsure)
    assert not judge.judge(unsure).relevant
    [revised] = [each for each in judge.teach({unsure.url: True}) if each.url == unsure.url]
    assert (revised.judgement.reward, revised.judgement.relevance) == (1.0, 1.0)
    similar = page("similar", "a tandem stack with many layers")
    assert judge.judge(similar).relevance > judge_with(seeds=[solar(0), solar(1)], others=60).judge(similar).relevance
    judge.teach({wrong.url: False})
    assert judge.judge(wrong).relevance == 0.0


def test_a_no_makes_pages_like_it_less_likely_but_leaves_their_reward():
    judge = judge_with(seeds=[solar(0), solar(1)], others=60)
    refused, like_it = [page(f"toy{n}", f"solar cells in a toy car, layer {n}") for n in range(2)]
    judge.learn(refused)
    before = judge.judge(like_it)
    judge.teach({refused.url: False})
    after = judge.judge(like_it)
    assert after.relevance < before.relevance
    assert after.reward == pytest.approx(before.reward, abs=0.05)
    assert after.breakdown["label correction"] < 0


def test_what_the_judge_itself_thinks_is_reported_beside_what_a_person_says():
    judge = judge_with(seeds=[solar(0), solar(1)], others=60)
    judge.teach({other(7).url: True})
    parts = judge.judge(other(7)).breakdown
    assert parts["label"] == 1.0
    assert 0.0 <= parts["without label"] <= 1.0


def test_a_seed_that_was_refused_by_mistake_is_a_seed_again():
    judge = judge_with(seeds=[solar(0), solar(1)], others=40)
    judge.teach({solar(0).url: None})  # it thinks again, so that nothing but the words is new below
    before = judge.judge(solar(5)).relevance
    judge.teach({solar(0).url: False, solar(1).url: False})
    assert judge.judge(solar(5)).relevance < before - 0.1
    judge.teach({solar(0).url: None, solar(1).url: None})
    assert judge.judge(solar(5)).relevance == pytest.approx(before, abs=0.01)


def test_without_seeds_what_people_take_makes_the_topic():
    judge = AdaptiveJudge(TopicProfile())
    for number in range(3):
        judge.learn(solar(number))
    for number in range(40):
        judge.learn(other(number))
    judge.teach({solar(number).url: True for number in range(3)})
    assert judge.judge(solar(9)).relevant
    assert not judge.judge(other(99)).relevant


def test_a_word_that_another_worker_takes_back_is_taken_back_here():
    judges, _ = team(2, seeds=[solar(0)])
    judges[0].learn(other(3))
    for verdict in (True, None):
        judges[0].teach({other(3).url: verdict})
        for number in range(40, 80):
            judges[1].learn(other(number))
    assert judges[1].judge(other(3)).breakdown.keys().isdisjoint({"label"})


def test_examples_that_were_refused_are_never_seeds():
    judge = judge_with(seeds=[solar(0), other(0)], no=frozenset([other(0).url]), others=40)
    assert not judge.judge(other(0)).relevant
    assert judge.judge(solar(5)).relevant


def test_the_title_says_more_than_the_text():
    judge = judge_with(seeds=[solar(0), solar(1)], others=40)
    text = "sun light on green tea leaves, old birds sing"
    titled = page("a", text, title="Perovskite solar cells")
    untitled = page("b", f"{text} perovskite solar cells")
    assert judge.judge(titled).relevance > judge.judge(untitled).relevance


def test_words_speak_for_and_against():
    judge = judge_with(seeds=[solar(0), solar(1)], others=300)
    words = {word.term: word.weight for word in judge.words(page("x", "perovskite solar cells and green tea leaves"))}
    assert words["perovskit"] > 0 > words["tea"]
    assert list(map(abs, words.values())) == sorted(map(abs, words.values()), reverse=True)


def test_an_empty_page_is_about_nothing():
    empty = ParsedPage(url="http://a.example/empty")
    judge = judge_with(seeds=[solar(0)], others=30)
    judge.learn(empty)
    assert judge.judge(empty).reward == 0.0
    assert not judge.judge(empty).relevant
    assert list(judge.words(empty)) == []


class Drawer:
    """A state store in memory; several workers may share one drawer."""

    write_seconds = 0.0

    def __init__(self, shared=None, worker="w1"):
        self.entries, self.worker, self.seen = {} if shared is None else shared, worker, {}

    def write(self, kind, content):
        self.entries[self.worker, kind] = content

    def read(self, kind):
        return self.entries.get((self.worker, kind))

    def read_others(self, kind):
        found = {key: value for key, value in self.entries.items() if key[1] == kind and key[0] != self.worker}
        new = [value for key, value in found.items() if self.seen.get(key) != value]
        self.seen.update(found)
        return new


def test_it_goes_on_where_it_stopped():
    state_store = Drawer()
    judge = AdaptiveJudge(TopicProfile(vectors=VECTORS, seeds=frozenset([solar(0).url])))
    judge.load_state(state_store)
    for each in (solar(0), *map(other, range(40))):
        judge.learn(each)
    judge.teach({other(3).url: False})
    judge.save_state()
    again = AdaptiveJudge(TopicProfile(vectors=VECTORS))
    again.load_state(state_store)
    for each in (solar(7), other(3), other(77)):
        assert again.judge(each).relevance == pytest.approx(judge.judge(each).relevance, rel=1e-4, abs=1e-6)
    assert again.pages_seen == judge.pages_seen


def test_a_seed_is_written_down_at_once():
    state_store = Drawer()
    judge = AdaptiveJudge(TopicProfile(vectors=VECTORS, seeds=frozenset([solar(0).url])))
    judge.load_state(state_store)
    judge.learn(solar(0))
    other = LearnerState.read(state_store.entries["w1", "sample-other"])
    assert (other.snapshot.kept, list(other.snapshot.urls), set(other.seeds)) == (1, [solar(0).url], {solar(0).url})


def test_workers_share_their_seeds():
    shared, topic_profile = {}, TopicProfile(vectors=VECTORS, seeds=frozenset([solar(0).url, solar(1).url]))
    one, two = AdaptiveJudge(topic_profile), AdaptiveJudge(topic_profile)
    one.load_state(Drawer(shared, "w1"))
    two.load_state(Drawer(shared, "w2"))
    one.learn(solar(0))
    before = two.judge(solar(5)).relevance
    for number in range(25):
        two.learn(other(number))
    plain = page("x", "perovskite modules: efficiency of a layer")
    alone = AdaptiveJudge(topic_profile)
    for number in range(25):
        alone.learn(other(number))
    assert two.judge(plain).relevance > alone.judge(plain).relevance
    assert before >= 0.0


def team(count, *, seeds=()):
    """Make judges that share a drawer."""
    shared, topic_profile = {}, TopicProfile(vectors=VECTORS, seeds=frozenset(seed.url for seed in seeds))
    judges = [AdaptiveJudge(topic_profile) for _ in range(count)]
    for number, judge in enumerate(judges):
        judge.load_state(Drawer(shared, f"w{number}"))
    return judges, shared


def test_four_workers_judge_as_one_that_saw_it_all():
    seeds = [solar(number) for number in range(4)]
    judges, shared = team(4, seeds=seeds)
    alone = AdaptiveJudge(TopicProfile(vectors=VECTORS, seeds=frozenset(seed.url for seed in seeds)))
    for number, fetched in enumerate([*seeds, *map(other, range(200))]):
        judges[number % 4].learn(fetched)
        alone.learn(fetched)
    for judge in judges:
        judge.save_state()
    again, twin = AdaptiveJudge(TopicProfile(vectors=VECTORS)), AdaptiveJudge(TopicProfile(vectors=VECTORS))
    again.load_state(Drawer(shared, "w0"))
    alone.load_state(drawer := Drawer())
    alone.save_state()
    twin.load_state(Drawer(drawer.entries))
    probes = [solar(9), other(99), page("mixed", "solar sail ships, efficiency of a harbour")]
    expected = [twin.judge(each).relevance for each in probes]
    assert [again.judge(each).relevance for each in probes] == pytest.approx(expected, abs=1e-6)


def test_what_was_read_twice_counts_once():
    judges, _ = team(2, seeds=[solar(0)])
    for number in range(40):
        judges[0].learn(other(number))
    judges[0].save_state()
    for number in range(100, 130):
        judges[1].learn(other(number))
        judges[1]._state_store.seen.clear()
    assert judges[1]._languages["other"].sample.seen_by_all == 70


def test_a_damaged_entry_of_another_worker_is_left_out_and_logged(caplog):
    judges, shared = team(1)
    shared.update({("bad", "sample-other"): b"nothing", ("worse", "sample-other"): b""})
    for number in range(5):
        judges[0].learn(other(number))
    assert "cannot be read and is left out" in caplog.text
    assert judges[0].pages_seen == 5


def test_entries_stay_small_and_are_written_rarely_however_many_pages_come(monkeypatch):
    [judge], _ = team(1)
    writes = []
    monkeypatch.setattr(judge._state_store, "write", lambda kind, content: writes.append(len(content)))
    random = Random(0)
    for number in range(300):  # from the 200th on, an entry is as large as it may be
        words = " ".join(f"{random.getrandbits(20):x}" for _ in range(1500))
        judge.learn(page(f"p{number}", words))
    assert ENTRY_BYTES / 2 < max(writes) <= ENTRY_BYTES
    assert len(writes) < 20


def test_many_seeds_are_bounded():
    judge = AdaptiveJudge(TopicProfile(vectors=VECTORS))
    for number in range(130):
        judge.learn(solar(number), seed=True)
    assert judge.judge(solar(500)).relevant
    assert judge.pages_seen == 130


def test_a_label_by_a_model_moves_verdicts_less_than_a_persons():
    moved = {}
    for label in (False, 0.2):
        judge = judge_with(seeds=[solar(0), solar(1)], others=40)
        judge.learn(solar(2))
        before = judge.judge(solar(7)).relevance
        judge.teach({solar(2).url: label})
        moved[label] = before - judge.judge(solar(7)).relevance
    assert 0.0 < moved[0.2] < moved[False]


def test_a_label_by_a_model_does_not_decide_alone_and_survives_a_restart():
    state_store = Drawer()
    judge = judge_with(seeds=[solar(0)], others=40)
    judge.load_state(state_store)
    judge.teach({other(3).url: 0.8})
    assert 0.0 < judge.judge(other(3)).relevance < 0.8
    judge.save_state()
    again = AdaptiveJudge(TopicProfile(vectors=VECTORS))
    again.load_state(state_store)
    assert again.judge(other(3)).breakdown["label"] == 0.8
