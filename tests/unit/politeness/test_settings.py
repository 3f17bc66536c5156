"""Every key of the politeness of topic.yaml reaches the value that all share."""

from dataclasses import asdict

import pytest

from thresher.config.schema import PolitenessConfig
from thresher.politeness.settings import Politeness

OTHERWISE = {
    "contact": "me@example.org",
    "delay_seconds": 7.0,
    "serialize_by": "ip",
    "robots": "ignore",
    "nofollow": "ignore",
    "ai_optout": "obey",
    "tdmrep": "always",
    "max_crawl_delay_seconds": 5.0,
}
"""A value for each key that is not its default."""


@pytest.mark.parametrize("key", PolitenessConfig.model_fields)
def test_every_key_changes_one_value(key):
    before, after = (asdict(Politeness.from_config(PolitenessConfig(**keys))) for keys in ({}, {key: OTHERWISE[key]}))
    assert sum(before[name] != after[name] for name in before) == 1


def test_the_defaults_are_those_of_topic_yaml():
    assert Politeness.from_config(PolitenessConfig()) == Politeness()
