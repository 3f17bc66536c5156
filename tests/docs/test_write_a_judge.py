"""The page on judges shows a package that can be installed; `test_blocks` crawls with it."""

import re

import pytest
from click.testing import CliRunner

from tests.docs.blocks import ROOT
from thresher import registry
from thresher.cli import thresher
from thresher.errors import ConfigError
from thresher.judges.base import Learner
from thresher.records import ParsedPage
from thresher.topics.profile import TopicProfile

PLUGIN = ROOT / "examples" / "judge-plugin"
PAGE = (ROOT / "docs" / "tutorial" / "write-a-judge.md").read_text(encoding="utf-8")


@pytest.fixture
def depth(plugin, monkeypatch):
    monkeypatch.syspath_prepend(plugin)
    return registry.make("judge", "depth", {}, TopicProfile(vectors={"en": {"solar": 1.0}}))


@pytest.mark.parametrize(("language", "name"), [("python", "thresher_depth.py"), ("toml", "pyproject.toml")])
def test_the_page_shows_the_files_as_they_are(language, name):
    [shown] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert shown == (PLUGIN / name).read_text(encoding="utf-8")


def test_the_page_names_every_method_of_a_learner():
    for name in set(vars(Learner)) & {*dir(Learner)}:
        if not name.startswith("_"):
            assert f"`{name}`" in PAGE, name


def test_the_share_of_paragraphs_decides(depth):
    found = depth.judge(ParsedPage(url="http://a.example/", blocks=("solar solar", "tea", "solar", "coffee")))
    assert (found.relevance, found.relevant) == (0.5, True)
    assert depth.words(ParsedPage(url="http://a.example/", blocks=("tea", "solar")))[0].term == "solar"


def test_a_page_without_text_is_not_relevant(depth):
    assert depth.judge(ParsedPage(url="http://a.example/")).relevant is False


def test_it_is_listed_and_refuses_a_wrong_parameter(depth):
    assert "threshold: 0.4" in CliRunner().invoke(thresher, ["judges", "depth"]).output
    with pytest.raises(ConfigError, match="judge depth: threshold must lie above 0 and be at most 1, got 2"):
        registry.make("judge", "depth", {"threshold": 2}, TopicProfile())
