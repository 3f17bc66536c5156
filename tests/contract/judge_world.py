"""A small bilingual world for judges: pages about solar cells, pages about other things, and a taxonomy of both."""

from random import Random

from thresher import registry
from thresher.records import ParsedPage
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition

TOPIC = "solar"
PHRASES = {"en": "solar cells", "zh": "太阳能电池"}
WORDS = {
    ("solar", "en"): "solar cell panel silicon perovskite efficiency photon wafer module roof sunlight voltage",
    ("music", "en"): "guitar piano concert opera singer melody orchestra album rhythm violin choir tempo",
    ("garden", "en"): "flower tree seed soil rose lawn hedge compost tulip orchard prune bloom",
    ("football", "en"): "goal striker league referee match stadium coach penalty keeper defender cup season",
    ("solar", "zh"): "太阳能 电池 光伏 组件 硅片 钙钛矿 效率 阳光 电压 屋顶",
    ("music", "zh"): "音乐 钢琴 演唱会 歌剧 旋律 乐队 专辑 节奏 小提琴 合唱",
    ("garden", "zh"): "花园 种子 土壤 玫瑰 草坪 果园 修剪 盆栽 郁金香 肥料",
    ("football", "zh"): "足球 射门 联赛 裁判 球场 教练 点球 门将 后卫 赛季",
}
COMMON = {
    "en": "news report today people year city house story work group world question answer page",
    "zh": "报道 今天 城市 人们 新闻 世界 问题 工作 故事 公司 网页 时间",
}
OTHERS = ("music", "garden", "football")
LANGUAGES = ("en", "zh")


def page(subject, language, number):
    """Write a page: title and forty words, a third of them of its subject."""
    random = Random(f"{subject} {language} {number}")
    own, common = WORDS[subject, language].split(), COMMON[language].split()
    other = WORDS[random.choice(OTHERS), language].split()
    words = [*random.choices(own, k=14), *random.choices(common, k=21), *random.choices(other, k=5)]
    if subject == TOPIC and number % 4:  # three in four pages name their topic
        words.append(PHRASES[language])
    random.shuffle(words)
    title = " ".join(random.choices(own, k=2) + random.choices(common, k=1))
    url = f"http://{language}.example/{subject}/{number}"
    return ParsedPage(url=url, title=title, text=f"{title} {' '.join(words)}", language=language)


SEEDS = [page(TOPIC, language, number) for language in LANGUAGES for number in range(3)]
CROWD = [page(other, language, number) for number in range(8) for other in OTHERS for language in LANGUAGES]
CROWD += [page(TOPIC, language, number) for number in range(10, 16) for language in LANGUAGES]
NEW = [page(other, language, number) for number in range(20, 28) for other in OTHERS for language in LANGUAGES]
NEW += [page(TOPIC, language, number) for number in range(20, 30) for language in LANGUAGES]


def is_topical(url):
    return f"/{TOPIC}/" in url


def classes():
    """Give the texts of a taxonomy's classes."""
    paths = {"solar": "Science/Energy/Solar", "music": "Arts/Music", "garden": "Home/Garden", "football": "Sports/Ball"}
    return {
        path: [page(subject, language, number).text for language in LANGUAGES for number in range(100, 112)]
        for subject, path in paths.items()
    }


def topic_profile(**changes):
    """Make the profile of the topic that a judge is given."""
    reported = {
        "phrases": list(PHRASES.values()),
        "vectors": TopicDefinition(title=PHRASES).vectors(),
        "seeds": frozenset(seed.url for seed in SEEDS),
        "classes": classes,
        "targets": frozenset({"Science/Energy"}),
    }
    return TopicProfile(**(reported | changes))


def make(name, *, parameters=None, **changes):
    """Build a judge that has seen nothing."""
    return registry.make("judge", name, parameters or {}, topic_profile(**changes))


def experienced(name, **changes):
    """Build a judge that has seen the seeds and sixty other pages, if it learns at all."""
    judge = make(name, **changes)
    if hasattr(judge, "learn"):
        for seed in SEEDS:
            judge.learn(seed, seed=True)
        for each in CROWD:
            judge.learn(each)
    return judge


def average_precision(judge, pages):
    """Rank pages by relevance, the topical ones last among equals."""
    ranked = sorted((-judge.judge(each).relevance, is_topical(each.url)) for each in pages)
    hits = [place for place, (_, topical) in enumerate(ranked, start=1) if topical]
    return sum(number / place for number, place in enumerate(hits, start=1)) / len(hits)


class MemoryStateStore:
    """A state store in memory; it lasts as long as its test."""

    write_seconds = 0.0

    def __init__(self, others=()):
        self.entries = {}
        self.others = others

    def write(self, kind, content):
        self.entries[kind] = content

    def read(self, kind):
        return self.entries.get(kind)

    def read_others(self, kind):
        return [other.entries[kind] for other in self.others if kind in other.entries]
