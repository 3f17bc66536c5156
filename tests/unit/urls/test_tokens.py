"""URLs hold words about their topic, between slashes and dots."""

from hypothesis import given
from hypothesis import strategies as st

from thresher.urls.tokens import url_blocks, url_tokens


def test_blocks_lie_between_slashes_and_tokens_between_dots():
    assert url_blocks("http://sports.sohu.com/lanqiu.shtml") == [["sports", "sohu"], ["lanqiu"]]


def test_words_of_every_topic_and_numbers_are_left_out():
    assert url_tokens("https://www.example.org:8080/2024/index.html") == ["example"]


def test_queries_are_split_too():
    assert url_tokens("http://example.com/show.php?cat=Sports&id=7") == ["example", "show", "cat", "sports", "id"]


def test_joints_and_escapes_do_not_hide_a_word():
    assert url_tokens("http://a.cn/tai_gang_ao/basket%20ball") == [
        "a",
        "tai_gang_ao",
        "taigangao",
        "basket ball",
        "basketball",
    ]


def test_escaped_chinese_reads_as_written():
    assert url_tokens("http://a.cn/%E7%AF%AE%E7%90%83") == ["a", "篮球"]


def test_the_ending_of_a_host_is_left_out_and_the_same_word_elsewhere_is_not():
    assert url_tokens("http://edu.sina.com.cn/gov/") == ["edu", "sina", "gov"]
    assert url_tokens("http://info.tsinghua.edu.cn/") == ["info", "tsinghua"]
    assert url_tokens("http://www.example.co.uk/uk/") == ["example", "uk"]


def test_an_ending_that_is_a_word_stays():
    assert url_tokens("http://china.travel/") == ["china", "travel"]


@given(st.text())
def test_no_text_raises(text):
    assert all(url_tokens(text))
