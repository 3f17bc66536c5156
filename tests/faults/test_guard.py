"""No link, redirect, robots.txt or name server leads a crawl into somebody's own network."""

from tests.faults import guard
from tests.faults.address_forms import FORMS


def test_no_form_of_a_private_address_is_dialled_and_each_has_its_reason():
    tally = guard.forms()
    assert tally.broken == []
    assert (tally.connects, tally.cases) == (0, len(FORMS))
    assert tally.cases >= 60


async def test_the_recording_client_would_have_noticed():
    dialled, reason = await guard.dial("http://public.example/")
    assert dialled == [(guard.PUBLIC, 80)]
    assert reason == ""


def test_a_crawl_that_is_led_to_every_form_connects_to_none():
    tally = guard.crawled_forms()
    assert tally.broken == []
    assert tally.connects == 0


def test_a_name_server_that_changes_its_mind_leads_nowhere():
    tally = guard.rebinding()
    assert tally.broken == []
    assert tally.connects == 0


def test_only_http_is_followed():
    tally = guard.schemes()
    assert tally.broken == []
    assert tally.connects == 0


def test_a_bad_port_is_never_dialled():
    tally = guard.ports([22, 25, 2049, 6000, 6379, 6667, 10080])
    assert tally.broken == []
    assert tally.connects == 0
