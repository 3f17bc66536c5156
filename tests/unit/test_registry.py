"""Parts are found by name; what nobody registered is refused with what there is."""

import pytest

from thresher import registry
from thresher.errors import ConfigError, UnknownName
from thresher.strategies.best_first import BestFirst
from thresher.topics.profile import TopicProfile


def test_a_built_in_is_found_by_its_name():
    assert registry.find("strategy", "best-first") is BestFirst


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(
        UnknownName,
        match=r"no strategy is called 'bets-first'; did you mean 'best-first'\? known: .*best-first, best-n-first",
    ):
        registry.find("strategy", "bets-first")


def test_an_unknown_parameter_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="judge cosine has no parameter 'dleta'; its parameters: threshold"):
        registry.make("judge", "cosine", {"dleta": 1}, {})


def test_parameters_reach_the_part():
    judge = registry.make("judge", "cosine", {"threshold": 0.3}, TopicProfile(vectors={"en": {"solar": 1.0}}))
    assert judge._threshold == 0.3


class MisspeltCapability(BestFirst):
    def on_mis(self, lease):
        return []


class HalfCapability(BestFirst):
    def load_state(self, state_store):
        pass


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (MisspeltCapability, "strategy mine has 'on_mis'; its name should probably be 'on_miss'"),
        (HalfCapability, "strategy mine has 'load_state', which needs 'save_state' too"),
    ],
)
def test_a_capability_that_would_be_switched_off_by_a_wrong_name_is_refused(monkeypatch, build, message):
    monkeypatch.setattr(registry, "find", lambda kind, name: build)
    with pytest.raises(ConfigError, match=message):
        registry.make("strategy", "mine", {}, TopicProfile(vectors={"en": {"solar": 1.0}}))


@pytest.mark.parametrize("kind", ["strategy", "judge"])
def test_all_that_are_installed_have_whole_capabilities(kind):
    for name in registry.known(kind):
        registry.check_capabilities(kind, name, registry.find(kind, name))
