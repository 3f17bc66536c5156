"""An app that sends a menu and a footer around an empty element: its pages are rendered, or the user is notified."""

import pytest

from testing.recording_server import recorder
from testing.screens.browser import CHROMIUM, NO_CHROMIUM
from tests.e2e.apps import FRAME, SETTINGS, app, rendered
from tests.faults.live import crawl

SCRIPT = {"app.test": app(3, shell=FRAME, robots="User-agent: *\nDisallow: /sections/")}


@pytest.mark.skipif(CHROMIUM is None, reason=NO_CHROMIUM)
def test_the_pages_of_an_app_with_a_menu_are_stored_as_a_reader_sees_them():
    with recorder(SCRIPT) as w:
        result = crawl(w, [w.url("app.test")], rendered())
    titles = {each["url"]: each["title"] for each in result.pages}
    assert titles == {f"http://app.test/{number or ''}": f"Solar cells {number}" for number in range(3)}
    assert all(each["relevant"] for each in result.pages)


def test_without_a_browser_the_user_is_notified_of_an_app_with_a_menu():
    with recorder(SCRIPT) as w:
        result = crawl(w, [w.url("app.test")], {**SETTINGS, "browser": {"executable": "/nowhere/chromium"}})
    assert [each["title"] for each in result.pages] == ["App"]
    assert result.stderr.count("seem to need JavaScript") == 1
