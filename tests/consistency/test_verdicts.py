"""Verdicts of the default judge on generated pages: the phrase counts, and no share of on-topic pages matters."""

from random import Random

import pytest

from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.records import ParsedPage
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition

PHRASE = "volcanic eruptions"
TOPIC_WORDS = (
    "volcanic eruption lava crater ash magma vent plume caldera summit cone basalt tephra pumice fissure dome hazard "
    "monitoring seismic gas sulphur flow pyroclastic lahar evacuation"
)
TOPIC = TOPIC_WORDS.split()
THEMES = {
    "harbour": "ship port cargo crane sailor dock vessel anchor tide pier captain freight rope deck hull",
    "tea": "leaf steep cup garden harvest green black kettle aroma estate blend picker taste steam trade",
    "football": "goal league match player coach season stadium team score transfer cup fans referee club final",
    "opera": "aria singer stage libretto composer orchestra soprano premiere act chorus tenor hall season score scene",
    "banking": "loan interest bank credit branch account deposit market risk capital fund asset rate bond share",
}
SYLLABLES = ("ba", "den", "kor", "lim", "mo", "nar", "pel", "ru", "sto", "vin")
COMMON = [first + second + third for first in SYLLABLES for second in SYLLABLES for third in SYLLABLES[:6]]
RARITY = [1 / (rank + 5) for rank in range(len(COMMON))]
SHARES = (0.05, 0.25, 0.5, 0.75, 0.9)


def page(name, words, title=""):
    return ParsedPage(url=f"http://a.example/{name}", title=title, text=f"{title} {' '.join(words)}", language="en")


def on_topic(number):
    draw = Random(f"on {number}")
    own = draw.sample(TOPIC, 14)
    words = draw.choices(own, k=70) + draw.choices(COMMON, RARITY, k=130) + [PHRASE] * draw.randint(1, 4)
    return page(f"on{number}", draw.sample(words, len(words)), title=f"{draw.choice(own)} {number}")


def off_topic(number):
    draw = Random(f"off {number}")
    theme, own = draw.choice([(theme, words.split()) for theme, words in THEMES.items()])
    words = draw.choices(own, k=70) + draw.choices(COMMON, RARITY, k=130) + draw.choices(TOPIC, k=draw.randint(0, 3))
    return page(f"off{number}", draw.sample(words, len(words)), title=f"{theme} {number}")


def judge_of(seeds):
    urls = frozenset(seed.url for seed in seeds)
    judge = AdaptiveJudge(
        TopicProfile(phrases=[PHRASE], vectors=TopicDefinition.from_phrase(PHRASE).vectors(), seeds=urls)
    )
    for seed in seeds:
        judge.learn(seed)
    return judge


def test_u4_the_phrase_counts_with_one_seed():
    seed = on_topic(0)
    judge = judge_of([seed])
    for number in range(60):
        judge.learn(off_topic(number))
    draw = Random("u4")
    incidental = draw.choices([word for word in seed.text.split() if word in COMMON], k=60)
    named = judge.judge(page("named", draw.choices(COMMON, RARITY, k=60) + [PHRASE] * 3, title="Volcanic eruptions"))
    unnamed = judge.judge(page("unnamed", incidental + draw.choices(THEMES["tea"].split(), k=100), title="Region"))
    assert named.relevant
    assert named.relevance > unnamed.relevance + 0.2


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("share", SHARES)
def test_a6_the_share_of_relevant_pages_follows_the_truth(share, seeds):
    judge = judge_of([on_topic(number) for number in range(seeds)])
    wanted = round(300 * share)
    pages = [on_topic(10 + number) for number in range(wanted)] + [off_topic(number) for number in range(300 - wanted)]
    Random("a6").shuffle(pages)
    arrived = 0
    for each in pages:
        judge.learn(each)
        arrived += judge.judge(each).relevant
    relevant = sum(judge.judge(each).relevant for each in pages)
    right = sum(judge.judge(each).relevant for each in pages if "/on" in each.url)
    assert right >= 0.8 * wanted
    assert relevant <= wanted + 0.05 * len(pages)
    assert arrived == pytest.approx(relevant, abs=0.1 * len(pages))


@pytest.mark.parametrize("share", SHARES)
def test_a6_the_reward_of_on_topic_pages_stays_above_that_of_others(share):
    judge = judge_of([on_topic(number) for number in range(3)])
    wanted = round(300 * share)
    pages = [on_topic(10 + number) for number in range(wanted)] + [off_topic(number) for number in range(300 - wanted)]
    Random("a6").shuffle(pages)
    for each in pages:
        judge.learn(each)
    rewards = {each.url: judge.judge(each).reward for each in pages}
    on = [reward for url, reward in rewards.items() if "/on" in url]
    off = [reward for url, reward in rewards.items() if "/off" in url]
    assert sum(on) / len(on) > sum(off) / len(off) + 0.3
