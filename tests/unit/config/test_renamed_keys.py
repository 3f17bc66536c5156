"""Keys of topic.yaml of version 0.2.0 are accepted under their earlier names, with a warning."""

import pytest

from thresher.config.loading import load_config
from thresher.config.renamed_keys import EARLIER_NAMES, RenamedKeyWarning, with_current_names
from thresher.errors import ConfigError
from thresher.topics.yaml_writer import with_settings

EARLIER = """\
manners: {delay_seconds: 3, one_at_a_time_per: address, crawl_delay_up_to_seconds: 9}
taxonomy: {file: bundled, nodes: [Sports], least_urls: 7}
strategy: {name: thresher, hold: 2.0}
"""
CURRENT = """\
politeness: {delay_seconds: 3, serialize_by: ip, max_crawl_delay_seconds: 9}
taxonomy: {file: bundled, nodes: [Sports], min_urls_per_class: 7}
strategy: {name: thresher, prior_strength: 2.0}
"""


@pytest.fixture
def load(tmp_path):
    def load(text):
        (tmp_path / "topic.yaml").write_text(text, encoding="utf-8")
        return load_config(tmp_path / "topic.yaml")

    return load


def test_earlier_names_are_accepted_and_each_gives_a_warning(load):
    with pytest.warns(RenamedKeyWarning) as warned:
        earlier = load(EARLIER)
    assert earlier == load(CURRENT)
    messages = [str(one.message) for one in warned]
    assert all(any(f"{old} is called" in message for message in messages) for old in EARLIER_NAMES.values())
    assert (
        "topic.yaml: manners is called politeness now; the earlier name is accepted until the next version" in messages
    )


def test_current_names_give_no_warning(load):
    assert load(CURRENT).politeness.serialize_by == "ip"


def test_a_key_under_both_names_is_refused(load):
    with pytest.raises(ConfigError, match=r"politeness is given twice, also as manners; remove manners"):
        load("manners: {delay_seconds: 3}\npoliteness: {delay_seconds: 4}\n")


def test_an_error_below_an_earlier_name_has_its_line(load):
    with pytest.warns(RenamedKeyWarning), pytest.raises(ConfigError, match=r"topic.yaml:3: politeness.delay_seconds"):
        load("name: x\nmanners:\n  delay_seconds: -1\n")


def test_settings_of_a_program_are_merged_under_the_current_name():
    with pytest.warns(RenamedKeyWarning):
        text = with_settings("politeness: {contact: a@b.example, delay_seconds: 2}", {"manners": {"delay_seconds": 5}})
    assert text == "politeness: {contact: a@b.example, delay_seconds: 5}\n"


def test_parameters_of_other_strategies_keep_their_names():
    assert with_current_names({"strategy": {"name": "own", "hold": 1}}) == {"strategy": {"name": "own", "hold": 1}}
