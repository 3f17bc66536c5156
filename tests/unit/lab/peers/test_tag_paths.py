"""Tag paths that are alike share a number."""

import pytest

from thresher_lab.peers import tag_path_bandit as module
from thresher_lab.peers.tag_path_bandit import TagPaths, pairs_of

TEXT = "html/body/div/div/div/div/p/a"
TABLE = "html/body/div/div/div/div/table/tbody/tr/td/a"


def test_pairs_count_once_however_deep_a_path_is():
    assert set(pairs_of("div/div/div/a")) == {"^/div", "div/div", "div/a", "a/$"}
    assert set(pairs_of("div/div/div/a").values()) == {1}


def test_text_and_tables_are_parted_and_a_deeper_text_is_not():
    paths = TagPaths(theta=0.75)
    assert paths.find(TEXT) == 0
    assert paths.find(TABLE) == 1
    assert paths.find("html/body/div/div/p/a") == 0


def test_at_theta_1_only_equal_pairs_are_alike():
    paths = TagPaths(theta=1.0)
    assert paths.find(TEXT) != paths.find("html/body/div/p/a/b")


def test_when_there_are_too_many_groups_the_nearest_is_joined(monkeypatch):
    monkeypatch.setattr(module, "MAX_GROUPS", 1)
    paths = TagPaths(theta=0.75)
    assert paths.find(TEXT) == paths.find("video") == 0


def test_groups_can_be_taken_up():
    paths, again = TagPaths(theta=0.75), TagPaths(theta=0.75)
    for path in (TEXT, TABLE):
        paths.find(path)
    again.restore(paths.state())
    assert again.find(TABLE) == 1


def test_theta_is_a_cosine():
    with pytest.raises(ValueError, match="between 0 and 1"):
        TagPaths(theta=1.5)
