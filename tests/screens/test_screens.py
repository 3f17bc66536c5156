"""Every screen over crawls that have begun, as a person meets it."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from testing.screens.browser import NARROW
from testing.screens.places import NAMES, screens_of

SERIOUS = {"serious", "critical"}
FEW_ROWS = """
for (const body of document.querySelectorAll("tbody, ol")) [...body.children].slice(5).forEach((row) => row.remove());
for (const details of [...document.querySelectorAll("details")].slice(0, 4)) details.open = true;
"""  # the others are made alike, and contrasts take long to find out


@pytest.fixture(scope="module")
def places(watched):
    return screens_of(watched.dashboard, "music")


@pytest.mark.parametrize("size", [None, NARROW], ids=["wide", "narrow"])
def test_every_screen_loads_and_fits(look, places, size):
    somebody = look(**({"size": size} if size else {}))
    for name in NAMES:
        page = somebody.visit(places[name])
        assert page.locator("h1").count() == 1, name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the window"
        assert somebody.violations() == [], name


def faults_of(page, **options):
    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
    return [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in SERIOUS]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_screen_shuts_anybody_out(look, places, language):
    somebody, faults = look(language=language), {}
    for name in NAMES:
        page = somebody.visit(places[name])
        page.evaluate(FEW_ROWS)
        faults[name, "light"] = faults_of(page)
        page.emulate_media(color_scheme="dark")
        faults[name, "dark"] = faults_of(page, runOnly=["color-contrast"])
        page.emulate_media(color_scheme="light")
    assert {where: found for where, found in faults.items() if found} == {}


def test_everything_can_be_read_without_a_script(look, places):
    somebody = look(javascript=False)
    for name in NAMES:
        page = somebody.visit(places[name])
        assert page.locator("h1").count() == 1, name
    page = somebody.visit(places["pages"])
    page.locator("a.title").first.click()
    assert page.locator("#path-title").is_visible()
    page.get_by_role("button", name="中文").click()
    assert page.locator("html").get_attribute("lang") == "zh-Hans"
    assert "/page?url=" in page.url


def test_keys_lead_past_the_navigation(look, places):
    page = look().visit(places["overview"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_chart_tells_its_figures(look, places):
    page = look().visit(places["overview"])
    before = page.locator(".hint-line").inner_text()
    page.locator("svg.chart").hover()
    assert page.locator(".hint-line").inner_text() != before
    page.get_by_text("As a table").click()
    assert page.locator("#harvest-table tbody tr").count() >= 10


def test_a_search_finds_pages(look, places):
    page = look().visit(places["search"])
    for _ in range(20):  # the first search makes the index
        if page.locator(".hits li").count():
            break
        page.wait_for_timeout(500)
        page.get_by_role("button", name="Search").click()
    assert page.locator(".hits li").count() > 0
    page.locator(".hits a.title").first.click()
    assert page.locator("#text-title").is_visible()


def test_both_crawls_are_side_by_side(look, places):
    page = look().visit("/")
    assert page.locator(".card").count() == 2
    page.locator(".card a").nth(1).click()
    assert page.url.endswith("/stars/")
