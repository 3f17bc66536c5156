"""The direction of a link: equation 7 and its constants."""

import pytest

from thresher.urls.link_types import LinkType
from thresher_papers.strategies.evidence.link_type import GAMMA, link_type_relevance

PARENT = "http://a.example/dir/page"
DIRECTIONS = {
    "http://a.example/dir/sub/child": (0.4, 0.2),
    "http://a.example/dir/sister": (0.2, 0.1),
    "http://a.example/other/page": (0.1, 0.1),
    "http://b.example/": (0.2, 0.01),
    "http://a.example/": (0.2, 0.0),
}


@pytest.mark.parametrize(("child", "gammas"), DIRECTIONS.items())
def test_a_direction_counts_more_when_the_anchor_is_relevant(child, gammas):
    assert link_type_relevance(PARENT, child, R_AT=0.1, R_PC=0.1) == gammas[0]
    assert link_type_relevance(PARENT, child, R_AT=0.0, R_PC=0.1) == gammas[1]


@pytest.mark.parametrize("child", DIRECTIONS)
@pytest.mark.parametrize("R_AT", [0.0, 0.5])
def test_on_an_irrelevant_page_no_direction_counts(child, R_AT):
    assert link_type_relevance(PARENT, child, R_AT=R_AT, R_PC=0.0) == 0.0


def test_every_direction_has_its_constants():
    assert set(GAMMA) == set(LinkType)
