"""The words of the generated web: English enough for a language test, varied enough that no two pages are alike."""

from __future__ import annotations

from itertools import product
from random import Random


def _words(text: str) -> list[str]:
    return text.split()


TOPIC_WORDS = ["perovskite", "photovoltaic", "solar", "cell", "tandem", "halide", "absorber", "efficiency"]
"""What the pages on the topic are about."""

NAMES = _words(
    "alder almond aspen balsam bamboo banyan beech birch boxwood bramble briar cedar cherry chestnut citron clover "
    "coral cypress dogwood elder elmwood fern fig flax forest ginkgo gorse hazel heather hemlock hickory holly "
    "hornbeam ironwood ivy jasmine juniper kauri larch laurel lilac linden lotus magnolia maple medlar mimosa moss "
    "mulberry myrtle oak olive orchid palm pine plane plum poplar quince redwood rowan spruce sycamore willow"
)
"""Parts of paths; three of them name a page."""

_FUNCTION_WORDS = _words("the of and to in is for with that on by from at as it are was be this which")
_PREFIXES = ["", "re", "over", "under", "inter", "out"]
_STEMS = _words(
    "port form act press mark count point view work light land field ground house stone water trade craft stand "
    "turn move build draw sign note paint plant cook sail march film sport train coach match script store lock"
)
_SUFFIXES = ["", "s", "er", "ers", "ing", "able", "ment", "ful", "less", "like"]
_CONTENT_WORDS = ["".join(parts) for parts in product(_PREFIXES, _STEMS, _SUFFIXES)]


def _sentence(random: Random, topic_words: list[str]) -> str:
    chosen = random.choices(_CONTENT_WORDS, k=9) + random.choices(_FUNCTION_WORDS, k=5)
    if topic_words:
        chosen += random.sample(topic_words, k=3)
    random.shuffle(chosen)
    return " ".join(chosen)


def _sentences(seed: int, count: int, topic_words: list[str]) -> list[str]:
    random = Random(seed)
    return [_sentence(random, topic_words) for _ in range(count)]


SENTENCES = _sentences(1, 4096, [])
TOPIC_SENTENCES = _sentences(2, 4096, TOPIC_WORDS)
