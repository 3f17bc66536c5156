"""The rules of published filters, each with a text that passes and one that fails, in English and Chinese."""

import pytest

from thresher.text.quality import RULES, MeasuredText, repeated_characters, repeated_ngrams, top_ngram, verdicts

NUMBERS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight"),
    *("nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"),
)
GOOD = """\
Solar cells made of perovskite lose their power when water reaches the crystals. Glass on both sides keeps the rain \
out, and a rim of butyl rubber seals the edges.

Engineers have to test every module for a thousand hours in a warm and humid chamber. Those that pass are mounted on \
roofs in three climates, where sensors record voltage and temperature each minute.

The first results are good: after two summers the loss stays below five percent. A thin layer of tin oxide helps, \
because it blocks ions that would otherwise wander into the metal.

Nobody knows yet whether this will be enough for thirty years. With cheaper encapsulation prices could fall by half, \
so many groups work on polymers instead."""
ZH = """\
钙钛矿太阳能电池遇到水会失去效率。工程师用两层玻璃保护晶体，边缘再用丁基橡胶密封。

每块组件都要在高温高湿的试验箱里放置一千小时。通过测试的样品被安装在三个不同气候的屋顶上，传感器每分钟记录电压和温度。

最初的结果令人满意：经过两个夏天，损失仍低于百分之五。氧化锡薄层起了很大作用，因为它能阻止离子进入金属电极。

不过谁也不知道这是否足以维持三十年。如果封装材料更便宜，价格可以下降一半，所以许多小组正在研究聚合物。"""


def failed(text, language="en", **more):
    found = verdicts(MeasuredText(text=text, language=language, **more))
    return {name for name, passes in found.items() if not passes}


def test_a_good_text_passes_every_rule():
    assert failed(GOOD) == set()
    assert failed(ZH, "zh") == set()


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("gopher-words", "The cells have to be sealed. " * 5),
        ("gopher-words", "cell " * 100_001),
        ("gopher-word-length", "I am a go to it. " * 20),
        ("gopher-word-length", "electroluminescence photodegradation " * 30),
        ("gopher-symbols", f"{GOOD} {'#tag ' * 40}"),
        ("gopher-symbols", f"{GOOD} {'and so on... ' * 40}"),
        ("gopher-bullets", "\n".join(f"• part {name} of the cells" for name in NUMBERS)),
        ("gopher-ellipses", "\n".join(f"Read more about {name}..." for name in NUMBERS)),
        ("gopher-letters", f"{GOOD} {'42 ' * 60}"),
        ("gopher-stop-words", " ".join(NUMBERS * 5)),
        ("gopher-lines", f"{GOOD}\n" + "Subscribe\n" * 9),
        ("gopher-paragraphs", f"{GOOD}\n\n" + "Subscribe\n\n" * 9),
        ("gopher-line-characters", f"{GOOD}\n" + f"{GOOD[:150]}\n" * 4),
        ("gopher-paragraph-characters", f"{GOOD}\n\n{GOOD}"),
        ("gopher-top-ngrams", f"{GOOD} {'solar cells ' * 60}"),
        ("gopher-repeated-ngrams", f"{GOOD} {GOOD[:300]}"),
        ("c4-sentences", "\n".join(f"The part {name} of the cells" for name in NUMBERS)),
        ("c4-placeholder", f"{GOOD} Lorem ipsum dolor sit amet."),
        ("c4-bracket", f"{GOOD} function cell() {{ return 1; }}"),
        ("fineweb-line-ends", "\n".join(f"The part {name} of the cells" for name in NUMBERS)),
        ("fineweb-line-characters", f"{GOOD}\n" + f"{GOOD[:150]}\n" * 2),
        ("fineweb-short-lines", "\n".join(f"Part {name}." for name in NUMBERS)),
    ],
)
def test_a_text_fails_the_rule_that_is_made_for_it(rule, text):
    assert rule in failed(text)
    assert rule not in failed(GOOD)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("gopher-words", ZH[:60]),
        ("gopher-symbols", f"{ZH}{'未完……' * 40}"),
        ("gopher-stop-words", "钙钛矿电池效率" * 10),
        ("gopher-lines", f"{ZH}\n" + "返回首页\n" * 9),
        ("gopher-top-ngrams", f"{ZH}{'太阳电池' * 80}"),
        ("gopher-repeated-ngrams", f"{ZH}{ZH[:120]}"),
        ("c4-sentences", "\n".join(["新闻中心", "返回首页", "联系我们", "版权声明"] * 4)),
        ("fineweb-line-ends", "\n".join(f"{name}新闻与通知公告栏目" for name in "一二三四五六")),
        ("fineweb-short-lines", "\n".join(f"{name}号新闻。" for name in "一二三四五六")),
    ],
)
def test_chinese_is_measured_by_its_characters(rule, text):
    assert rule in failed(text, "zh")


def test_two_characters_are_a_word_and_punctuation_is_none():
    assert MeasuredText(text="钙钛矿电池，效率。", language="zh").words == 3
    assert MeasuredText(text="perovskite cells, two.", language="en").words == 3


def test_a_line_of_fifteen_characters_is_short_in_english_and_not_in_chinese():
    assert "fineweb-short-lines" in failed("Fifteen letters\n" * 3)
    assert "fineweb-short-lines" not in failed("这一行文字有十五个字符不算很短。\n" * 3, "zh")


@pytest.mark.parametrize(
    ("language", "left_out"),
    [
        ("en", set()),
        ("de", set()),
        ("zh", {"gopher-word-length"}),
        ("ko", {"gopher-word-length", "gopher-stop-words"}),
        ("th", {"gopher-word-length", "gopher-stop-words", "gopher-letters", "c4-sentences", "fineweb-line-ends"}),
        ("", {"gopher-stop-words"}),
    ],
)
def test_a_rule_without_sense_in_a_language_is_neither_passed_nor_failed(language, left_out):
    assert RULES.keys() - verdicts(MeasuredText(text="text", language=language)).keys() == left_out


def test_items_of_lists_count_as_bullets():
    text = "\n".join(f"part {name}" for name in NUMBERS)
    assert "gopher-bullets" not in failed(text)
    assert "gopher-bullets" in failed(text, items=14)


def test_stop_words_are_those_of_the_language():
    german = MeasuredText(text="Die Zellen sind mit Glas und Folie vor Wasser geschützt.", language="de")
    assert "gopher-stop-words" not in failed(german.text, "de")
    assert "gopher-stop-words" in failed(german.text, "en")
    assert german.stop_words > 0.3


def test_only_what_occurred_before_counts_as_repeated():
    assert repeated_characters(["aa", "b", "aa"]) == 2 / 5
    assert repeated_characters([]) == 0


def test_a_character_in_two_repeated_sequences_counts_once():
    assert repeated_ngrams([*"abcdxabcd"], 3) == 4 / 9
    assert repeated_ngrams([*"abcdxabcd"], 5) == 0


def test_the_most_frequent_sequence_counts_with_all_its_places():
    assert top_ngram(["aa", "b", "x", "aa", "b", "y", "aa", "b"], 2) == 9 / 11
    assert top_ngram([*"abcd"], 2) == 0
    assert top_ngram([], 2) == 0


def test_longer_sequences_repeat_no_more_than_shorter_ones():
    units = (GOOD * 2).split()
    shares = [repeated_ngrams(units, n) for n in range(5, 11)]
    assert shares == sorted(shares, reverse=True)


def test_an_empty_text_is_measured_too():
    assert verdicts(MeasuredText(text=""))["gopher-words"] is False
