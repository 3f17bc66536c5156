"""What the records of a page tell about its visits."""

from tests.unit.storage.test_collection import page
from thresher.reasons.reason import NO_REASON
from thresher.records import Outcome
from thresher.storage.page_store import UNCHANGED
from thresher.storage.visits import visit_history


def fetched(at, text_hash):
    return page(1, at=at, text_hash=text_hash)


def came_to_nothing(at, status, reason=NO_REASON, outcome=Outcome.FAILED):
    return page(1, at=at, page=False, status=status, reason=reason, outcome=outcome)


def looks(*history):
    return [(visit.at, visit.seconds, visit.changed) for visit in visit_history(history).visits]


def test_the_first_fetch_is_no_visit():
    assert looks(fetched(10, 7)) == []
    assert visit_history([fetched(10, 7)]).checked_at == 10


def test_another_text_is_a_change_and_the_same_is_none():
    assert looks(fetched(10, 7), fetched(30, 7), fetched(60, 8)) == [(30, 20, False), (60, 30, True)]


def test_a_visit_without_news_is_a_visit():
    unchanged = came_to_nothing(40, 304, UNCHANGED, Outcome.DONE)
    assert looks(fetched(10, 7), unchanged, fetched(60, 8)) == [(40, 30, False), (60, 20, True)]


def test_a_busy_server_is_no_visit():
    assert looks(fetched(10, 7), came_to_nothing(40, 503, outcome=Outcome.RETRY), fetched(60, 7)) == [(60, 50, False)]


def test_a_page_that_is_no_longer_there_is_gone_until_it_returns():
    history = [fetched(10, 7), came_to_nothing(40, 404)]
    assert visit_history(history).gone
    assert looks(*history) == [(40, 30, True)]
    assert not visit_history([*history, fetched(50, 7)]).gone


def test_what_was_never_there_is_not_gone():
    assert not visit_history([came_to_nothing(40, 404)]).gone
