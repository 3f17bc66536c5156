"""When a learner thinks again, writes and reads."""

from itertools import pairwise

from thresher.modelstate.schedule import RefitSchedule

MAX_ROWS = 6000
"""That a refit looks at, however many workers there are."""


def fits(workers, pages):
    """Let a worker see pages, each of which also comes to each of the others; return when it thought again."""
    refit_schedule, found = RefitSchedule(25), []
    for own in range(1, pages + 1):
        if refit_schedule.is_fit_due(own, own * workers, min(own * workers, MAX_ROWS)):
            refit_schedule.fit(own, own * workers)
            found.append(own)
    return found


def test_one_worker_thinks_again_after_every_25_pages_and_later_after_every_tenth():
    assert fits(1, 100) == [25, 50, 75, 100]
    late = fits(1, 5000)
    assert 0.09 < (late[-1] - late[-2]) / late[-2] < 0.11


def test_pages_of_other_workers_count():
    assert fits(2, 50) == [13, 26, 39]


def test_many_other_workers_keep_nobody_busy():
    early = fits(64, 1000)
    assert min(later - before for before, later in pairwise(early)) >= 8
    late = fits(64, 2000)
    assert late[-1] - late[-2] >= 0.02 * MAX_ROWS


def test_an_example_brings_the_next_fit_forward():
    refit_schedule = RefitSchedule(25)
    refit_schedule.fit_within(3, 5)
    assert [own for own in range(12) if refit_schedule.is_fit_due(own, own, own)] == [8, 9, 10, 11]


def turns(is_due, note, pages):
    found = []
    for own in range(1, pages):
        if is_due(own):
            note(own)
            found.append(own)
    return found


def test_entries_grow_rarer_but_no_crash_costs_more_than_250_pages():
    refit_schedule = RefitSchedule()
    writes = turns(refit_schedule.is_write_due, refit_schedule.written, 5000)
    assert writes[:5] == [5, 10, 15, 20, 25]
    assert writes[-1] - writes[-2] == 250
    assert len(writes) < 40


def test_a_fast_crawl_does_not_save_more_often_than_its_store_wants():
    now = 0.0
    refit_schedule = RefitSchedule(clock=lambda: now)
    refit_schedule.write_seconds = 5.0
    writes = []
    for own in range(1, 2001):
        now = own / 100
        if refit_schedule.is_write_due(own):
            refit_schedule.written(own)
            writes.append(own)
    assert writes == [5, 505, 1005, 1505]


def test_others_are_looked_at_after_every_page_at_first_and_at_last_after_25():
    refit_schedule = RefitSchedule()
    reads = turns(refit_schedule.is_read_due, refit_schedule.read, 2000)
    assert reads[:5] == [1, 2, 3, 4, 5]
    assert reads[-1] - reads[-2] == 25
