"""The token table: strict files, and spellings of every label."""

import subprocess
import sys

import pytest

from thresher.errors import ConfigError
from thresher.topics.token_table import COLUMNS, SpellingKind, TokenTable, fold, full_pinyin, initials

HEAD = "\t".join(COLUMNS)


def table(*rows):
    return TokenTable.parse("\n".join([HEAD, *rows]), "mine.tsv")


def test_the_shipped_table_maps_at_least_two_hundred_topics():
    assert len(TokenTable.shipped()) >= 200


def test_the_readings_of_the_shipped_table_are_those_of_pypinyin():
    for row in TokenTable.shipped():
        read = {full_pinyin(name) for name in row.chinese}
        assert {*row.pinyin} == read | {pinyin.replace("v", "u") for pinyin in read if "v" in pinyin}, row
        assert {*row.initials} == {initials(name) for name in row.chinese} - {""}, row


def test_the_shipped_table_loads_without_pypinyin():
    script = "import sys; from thresher.topics.token_table import TokenTable as T; T.shipped(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "pypinyin" not in loaded.split()


def test_a_row_is_found_by_each_of_its_names():
    cars = table("Automobile, Car\tvehicle\tauto\t汽车\tqiche\tqc")
    assert cars.find("car") is cars.find("Automobile") is cars.find("汽车") is not None
    assert cars.find("vehicle") is None


def test_a_cell_is_a_set_of_spellings():
    cars = table("Automobile, Car\tvehicle\tauto\t汽车\tqiche\tqc")
    assert cars.spellings(["Car"]) == {
        "automobile": SpellingKind.WORD,
        "car": SpellingKind.WORD,
        "vehicle": SpellingKind.WORD,
        "汽车": SpellingKind.WORD,
        "auto": SpellingKind.ABBREVIATION,
        "qiche": SpellingKind.PINYIN,
        "qc": SpellingKind.INITIALS,
    }


def test_a_short_name_that_is_listed_as_an_abbreviation_is_one():
    assert table("Television, TV\t-\ttv").spellings(["TV"])["tv"] is SpellingKind.ABBREVIATION


def test_a_label_outside_the_table_has_itself_and_its_pinyin():
    assert table().spellings(["Curling", "冰壶"]) == {
        "curling": SpellingKind.WORD,
        "冰壶": SpellingKind.WORD,
        "binghu": SpellingKind.PINYIN,
    }


def test_pinyin_left_out_is_read_from_the_chinese_names():
    row = table("Curling\t\t\t冰壶").find("Curling")
    assert (row.pinyin, row.initials) == (("binghu",), ("bh",))


def test_a_dash_keeps_a_cell_empty():
    row = table("Curling\t-\t-\t冰壶\tbinghu\t-").find("Curling")
    assert (row.words, row.abbreviations, row.initials) == ((), (), ())


def test_a_row_takes_the_place_of_one_with_the_same_name():
    joined = table("Tea\tteahouse", "Coffee") | table("Tea\tteapot")
    assert joined.find("Tea").words == ("teapot",)
    assert "teapot" in joined
    assert "teahouse" not in joined


def test_a_crawl_folder_adds_its_own_table(tmp_path):
    (tmp_path / "tokens.tsv").write_text(f"{HEAD}\nCurling\t\t\t冰壶\n", encoding="utf-8")
    known = TokenTable.for_crawl(tmp_path)
    assert "binghu" in known
    assert "lanqiu" in known


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["topic\tspelling"], "mine.tsv:1: the header must be"),
        ([HEAD, "# a remark", "\twords"], "mine.tsv:3: the first column must name the topic"),
        ([HEAD, "Tea\ta\tb\t茶\tcha\tc\td"], "mine.tsv:2: 7 columns"),
        ([HEAD, "Tea\tTea House"], "mine.tsv:2: words: 'Tea House' must be written as in a URL: 'teahouse'"),
        ([HEAD, "Tea\t\t\tcha"], "mine.tsv:2: chinese: 'cha' contains no Chinese character"),
        ([HEAD, "Tea", "", "TEA, Chai"], "mine.tsv:4: 'TEA' is a topic of line 2 already"),
        ([HEAD, "!"], "mine.tsv:2: labels: '!' contains no letter"),
        ([], "mine.tsv:1: the header must be"),
    ],
)
def test_a_wrong_line_is_named(lines, complaint):
    with pytest.raises(ConfigError, match=complaint):
        TokenTable.parse("\n".join(lines), "mine.tsv")


def test_a_table_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "tokens.tsv"
    path.write_bytes(b"labels\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        TokenTable.read(path)


def test_names_of_the_shipped_table_are_folded_once():
    names = [fold(name) for row in TokenTable.shipped() for name in (*row.labels, *row.chinese)]
    assert len(names) == len(set(names))
