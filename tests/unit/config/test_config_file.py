"""topic.yaml is read strictly, and complaints name the line and what would be right."""

from pathlib import Path

import pytest

from thresher.config.loading import load_config
from thresher.errors import ConfigError


def complaint(tmp_path: Path, text: str) -> str:
    path = tmp_path / "topic.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    return str(caught.value)


def test_an_empty_file_is_a_crawl_of_defaults(tmp_path):
    (tmp_path / "topic.yaml").write_text("")
    config = load_config(tmp_path / "topic.yaml")
    assert config.politeness.delay_seconds == 2.0
    assert config.scope.max_depth == 12
    assert config.strategy.name == "thresher"


def test_whole_numbers_are_welcome_where_a_number_is_expected(tmp_path):
    (tmp_path / "topic.yaml").write_text("politeness: {delay_seconds: 3}\n")
    assert load_config(tmp_path / "topic.yaml").politeness.delay_seconds == 3.0


def test_further_keys_of_a_strategy_are_its_parameters(tmp_path):
    (tmp_path / "topic.yaml").write_text("strategy: {name: best-first, batch: 5}\n")
    assert load_config(tmp_path / "topic.yaml").strategy.parameters == {"batch": 5}


def test_a_bare_no_among_languages_is_explained(tmp_path):
    printed = complaint(tmp_path, "name: x\nlanguages:\n  - en\n  - zh\n  - no\n")
    assert printed == (
        'topic.yaml:5: languages[2] is false, expected a language code. YAML reads a bare no as false; write "no".'
    )


def test_an_unknown_key_is_refused_with_the_known_ones(tmp_path):
    printed = complaint(tmp_path, "scope:\n  max_dept: 3\n")
    assert printed.startswith("topic.yaml:2: unknown key scope.max_dept; known here: allow_hosts, ")


def test_a_wrong_type_names_line_value_and_what_is_right(tmp_path):
    printed = complaint(tmp_path, "name: x\nscope: {max_depth: deep}\n")
    assert printed == 'topic.yaml:2: scope.max_depth is "deep", expected a whole number.'


def test_several_complaints_come_together(tmp_path):
    printed = complaint(tmp_path, "scope: {max_depth: -1}\npoliteness:\n  robots: maybe\n")
    assert [line.split(" ")[0] for line in printed.splitlines()] == ["topic.yaml:1:", "topic.yaml:3:"]


def test_a_lease_that_ends_before_its_fetch_is_refused(tmp_path):
    printed = complaint(tmp_path, "engine: {timeout_seconds: 30, lease_seconds: 31}\n")
    assert printed.startswith("topic.yaml:1: engine: lease_seconds is 31, expected more than")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("name: !!python/object/apply:os.system ['true']\n", "could not determine a constructor"),
        ("a: &a [x]\nb: *a\n", "topic.yaml:2: aliases (*a) are not read"),
        ("name: x\nname: y\n", "topic.yaml:2: name is given twice; remove one of them."),
        ("name: [x\n", "not YAML"),
        ("- a\n- b\n", "the file is"),
        ("network: {allow: [everything]}\n", "does not appear to be an IPv4 or IPv6 network"),
        ("store: mysql://x\n", "topic.yaml:1: store"),
        ("name: \x07\n", "not YAML"),
    ],
)
def test_what_is_not_plain_yaml_of_ours_is_refused(tmp_path, text, printed):
    assert printed in complaint(tmp_path, text)


def test_several_topics_have_words_of_their_own(tmp_path):
    printed = complaint(tmp_path, "keywords: [tea]\ntopics: {tea: {title: {en: green tea}}}\n")
    assert "topics have keywords and nodes of their own" in printed
    printed = complaint(tmp_path, "topics: {tea: {nodes: [Drinks/Tea]}}\n")
    assert "topics.tea.nodes names nodes, and there is no taxonomy" in printed


def test_the_name_of_a_topic_is_one_word(tmp_path):
    assert "topics" in complaint(tmp_path, "topics: {green/tea: {title: {en: green tea}}}\n")
