"""What is destroyed in a crawl is found, named and repaired; the fault table plants all losses, this a few of them."""

import pytest

from tests.faults.planted import planted, untouched
from tests.faults.planted_crawls import KINDS, prepared_crawls
from tests.faults.planted_losses import LOSSES

SAMPLE = {
    "SQLite": ["terms", "120 waiting URLs"],
    "SQLite, full queue": ["8 waiting URLs of a host that was full"],
    "Redis": ["8 waiting URLs"],
    "cold tier": ["half a run"],
    "collection": ["all objects with rows", "half an entry", "bytes of a WARC file in the collection"],
}


@pytest.fixture(scope="module")
def crawls():
    with prepared_crawls() as crawls:
        yield crawls


def test_50_different_losses_are_planted_in_every_kind_of_crawl():
    assert len({(loss.kind, loss.name) for loss in LOSSES}) == len(LOSSES) == 50
    assert {loss.kind for loss in LOSSES} == {*KINDS}


@pytest.mark.parametrize("kind", SAMPLE)
def test_a_crawl_to_which_nothing_was_done_has_no_finding(crawls, kind):
    report = untouched(crawls, kind)
    assert report.code == 0, report


@pytest.mark.parametrize(
    "loss",
    [loss for loss in LOSSES if loss.name in SAMPLE.get(loss.kind, ())],
    ids=lambda loss: f"{loss.kind}: {loss.name}",
)
def test_a_loss_is_found_and_repaired(crawls, loss):
    verdict = planted(crawls, loss)
    assert verdict.has_changed, "the loss is none"
    assert verdict.held, str(verdict)
