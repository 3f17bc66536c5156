"""Seeds are URLs in topic.yaml or lines of a file; what is no URL is refused, and its place named."""

import pytest

from thresher.errors import ConfigError
from thresher.topics.seeds import seeds_of


@pytest.fixture
def topic(tmp_path):
    return tmp_path / "topic.yaml"


def test_a_url_is_a_seed_in_its_one_spelling(topic):
    assert seeds_of("HTTP://A.example", topic) == ["http://a.example/"]


def test_a_file_has_a_seed_on_each_line_besides_comments(topic):
    (topic.parent / "seeds.txt").write_text("# mine\n\nhttp://a.example/1 # the first\n  http://a.example/2\n")
    assert seeds_of("seeds.txt", topic) == ["http://a.example/1", "http://a.example/2"]


def test_a_line_that_is_no_url_is_named(topic):
    (topic.parent / "seeds.txt").write_text("http://a.example/\nnonsense\n")
    with pytest.raises(ConfigError, match=r"seeds\.txt:2: 'nonsense'"):
        seeds_of("seeds.txt", topic)


def test_a_file_that_is_missing_is_named(topic):
    with pytest.raises(ConfigError, match=r"seeds names more\.txt"):
        seeds_of("more.txt", topic)
