"""Rows R1, R2 and P2 in their short form; `make faults` runs the long one."""

from testing.faulty_crawl.scenario import Plan, observe
from testing.recording_server.site import Site
from tests.faults.figures import figures
from tests.faults.kill import losses, nothing_lost, polite, refetches_bounded


def test_a_killed_worker_loses_no_url_and_repeats_only_what_it_had_in_flight():
    plan = Plan(site=Site(pages=700, hosts=60), workers=3, worker_kills=3, max_seconds=240.0)
    measured = figures(plan, observe(plan))
    assert measured.kills == 3
    assert nothing_lost(measured), losses(measured)
    assert refetches_bounded(measured), losses(measured)
    assert polite(measured), measured


def test_hosts_are_left_alone_for_their_delay_while_workers_and_the_whole_run_are_killed():
    plan = Plan(
        site=Site(pages=400, hosts=25, skew=1.5),
        delay_seconds=0.2,
        workers=3,
        worker_kills=2,
        total_kills=1,
        max_seconds=240.0,
    )
    measured = figures(plan, observe(plan))
    assert measured.kills == 3
    assert measured.close_gaps > 100, "the delay decided too rarely for this test to tell anything"
    assert polite(measured), measured
    assert nothing_lost(measured), losses(measured)
    assert refetches_bounded(measured), losses(measured)
