"""No script of a page leads a browser, or the proxy that it is kept behind, into somebody's own network."""

import pytest

from testing.screens.browser import NO_CHROMIUM
from tests.faults import browser
from tests.faults.browser_recorder import can_record, recorded_browser

pytestmark = pytest.mark.skipif(not can_record(), reason=f"{NO_CHROMIUM}, and a compiler")


def test_no_way_to_ask_leads_a_page_to_a_private_address():
    tally = browser.by_scripts(["fetch", "worker", "socket", "stun", "turn", "frame"], every=3)
    assert tally.broken == []
    assert tally.connects == 0


def test_a_name_that_rebinds_leads_a_page_nowhere():
    tally = browser.by_names()
    assert tally.broken == []
    assert tally.connects == 0


async def test_the_recorder_would_have_noticed(tmp_path):
    """A browser without our flags and without the proxy is caught at what it does by itself."""
    from playwright.async_api import async_playwright

    page = tmp_path / "page.html"
    page.write_text("<script>fetch('http://10.0.0.1/').catch(() => document.title = 'failed')</script>")
    with recorded_browser() as recorded:
        async with async_playwright() as playwright:
            chromium = await playwright.chromium.launch(
                executable_path=str(recorded.executable), args=["--no-sandbox", "--disable-web-security"]
            )
            tab = await chromium.new_page()
            await tab.goto(page.as_uri())
            await tab.wait_for_function("document.title === 'failed'", timeout=10_000)
            await chromium.close()
        assert ("10.0.0.1", 80) in recorded.record.connects()
