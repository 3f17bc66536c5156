"""What is not as it was: new, changed, moved and gone pages."""

from contextlib import closing

import pytest

from tests.unit.storage.test_collection import page
from thresher.reasons.legacy import legacy_reason
from thresher.reasons.reason import NO_REASON
from thresher.records import Outcome
from thresher.refresh.changes import ChangeKind, changes
from thresher.refresh.queue import last_start, queue_path, record_start, remove_queue
from thresher.storage.page_store import UNCHANGED, PageStoreWriter
from thresher.storage.reader import PageStoreReader

SINCE = 100.0


@pytest.fixture
def found(tmp_path):
    def changes_of(*records):
        with closing(PageStoreWriter(tmp_path / "w1.db")) as writer:
            writer.write(records)
        with PageStoreReader(tmp_path) as collection:
            return {change.record.fingerprint: change for change in changes(collection, SINCE)}

    return changes_of


def nothing(number, at, status, reason=NO_REASON, outcome=Outcome.DONE):
    return page(number, at=at, page=False, status=status, reason=reason, outcome=outcome)


def test_each_kind_of_change_is_distinguished_from_the_others(found):
    reported = found(
        page(1, at=200),
        page(2, at=50, text_hash=1, relevance=0.9),
        page(2, at=200, text_hash=2, relevance=0.4),
        page(3, at=50),
        nothing(3, 200, 404, legacy_reason("http 404"), Outcome.FAILED),
        page(4, at=50),
        nothing(4, 200, 301, legacy_reason("redirected to http://b.example/")),
    )
    assert {number: change.kind for number, change in reported.items()} == {
        1: ChangeKind.NEW,
        2: ChangeKind.CHANGED,
        3: ChangeKind.GONE,
        4: ChangeKind.MOVED,
    }
    assert (reported[2].before, reported[2].record.relevance, reported[1].before) == (0.9, 0.4, None)


def test_what_is_as_it_was_is_not_listed(found):
    untouched, looked_at, fetched_again = page(1, at=50), page(2, at=50), page(3, at=50, text_hash=1)
    again = [nothing(2, 200, 304, UNCHANGED), page(3, at=200, text_hash=1)]
    assert found(untouched, looked_at, fetched_again, *again, nothing(4, 200, 404)) == {}


def test_how_much_was_kept_is_reported_where_both_texts_are_there(found):
    reported = found(
        page(1, at=50, text_hash=1, text="one two three four five"),
        page(1, at=200, text_hash=2, text="one two three six seven"),
        page(2, at=50, text_hash=1),
        page(2, at=200, text_hash=2, text="now"),
    )
    assert reported[1].kept == pytest.approx(2 / 6)
    assert reported[2].kept is None


def test_the_beginning_of_the_last_refresh_is_noted(tmp_path):
    assert last_start(tmp_path) is None
    record_start(tmp_path, 12.5)
    assert last_start(tmp_path) == 12.5
    (tmp_path / "refresh.json").write_text("[]")
    assert last_start(tmp_path) is None


def test_a_queue_is_removed_with_its_sides(tmp_path):
    for side in ("", "-wal", "-shm"):
        (tmp_path / f"refresh.db{side}").write_text("")
    remove_queue(tmp_path)
    assert not queue_path(tmp_path).exists()
    assert list(tmp_path.iterdir()) == []
