"""A receiver that failed in every way gets each digest once; nobody else waits for it."""

from tests.faults.hooks import ANSWERS, deliver


def test_every_digest_is_taken_once_after_every_kind_of_bad_answer():
    found = deliver([*ANSWERS], 3)
    assert found.failures == len(ANSWERS)
    assert found.held, found
