"""A crawl that runs while somebody looks: numbers that change, buttons and keys that do what they say."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from testing.screens import world

MAX_ANSWERS = 20


def number(page, label):
    """Read one of the large figures."""
    cell = page.locator("#numbers div", has=page.locator("dt", has_text=re.compile(f"^{label}$"))).locator("dd")
    return int(cell.inner_text().replace(",", ""))


@pytest.fixture
def music(look):
    """Somebody who looks at the overview of a crawl that does not run."""
    page = look().visit("/music/")
    page.evaluate("window.same = true")
    yield page
    assert page.evaluate("window.same"), "the page was loaded again"


@pytest.fixture
def at_rest(watched):
    """Ends what a test has started."""
    yield
    world.stop(watched.folders["music"])


@pytest.mark.usefixtures("at_rest")
def test_a_run_is_started_watched_paused_and_stopped_from_the_screen(music, watched):
    before = number(music, "pages")
    music.get_by_role("spinbutton", name="Minutes", exact=True).fill("5")
    music.get_by_role("button", name="Start").click()
    expect(music.locator("#state")).to_have_text("running", timeout=30_000)
    music.wait_for_function(
        "(before) => Number(document.querySelector('#numbers dd').textContent.replace(/,/g, '')) > before", arg=before
    )

    music.locator("#budget-pages").fill("5000")
    music.get_by_role("button", name="Change limits").click()
    expect(music.locator("#budgets progress").first).to_have_attribute("max", "5000")

    music.get_by_role("button", name="Pause").click()
    expect(music.locator("#state")).to_have_text("paused")
    expect(music.get_by_role("button", name="Resume")).to_be_visible()
    music.wait_for_timeout(2_500)
    stands = number(music, "pages")
    music.wait_for_timeout(1_500)
    assert number(music, "pages") == stands

    music.get_by_role("button", name="Resume").click()
    expect(music.locator("#state")).to_have_text("running")
    music.wait_for_function(
        "(before) => Number(document.querySelector('#numbers dd').textContent.replace(/,/g, '')) > before", arg=stands
    )
    music.get_by_role("button", name="Stop").click()
    expect(music.locator("#state")).to_have_text("stopped", timeout=40_000)
    assert watched.dashboard.ask("/api/crawls/music")["counts"]["pages"] >= number(music, "pages")


def test_what_is_being_typed_is_not_swapped_away(look, watched):
    page = look().visit("/music/")
    page.get_by_role("spinbutton", name="Minutes", exact=True).fill("7")
    page.evaluate("document.querySelector('#control').insertAdjacentHTML('beforeend', '<i id=mark></i>')")
    watched.dashboard.ask("/api/crawls/music/labels", {"labels": [{"url": seed(watched), "relevant": True}]})
    expect(page.locator("#counts")).to_contain_text("1, 0", timeout=30_000)
    assert page.get_by_role("spinbutton", name="Minutes", exact=True).input_value() == "7"
    watched.dashboard.ask("/api/crawls/music/labels", {"labels": [{"url": seed(watched), "relevant": None}]})


def seed(watched):
    listed = watched.dashboard.ask("/api/crawls/music/pages?limit=1&order=relevance")["pages"]
    return listed[0]["url"]


def test_answers_by_key_teach_and_move_the_queue(look, watched):
    """In a crawl of 30 pages that nobody continues: later, a few answers often leave the best 20 URLs as they are."""
    page = look().visit("/stars/label")
    queue = [each["url"] for each in watched.dashboard.ask("/api/crawls/stars/frontier?limit=20")["next"]]
    asked, moved = [], 0
    for answer in "yn" * (MAX_ANSWERS // 2):
        asked.append(page.locator(".question .where bdi").inner_text())
        page.keyboard.press(answer)
        expect(page.locator(".taught")).to_contain_text(asked[-1], timeout=40_000)
        moved += page.locator(".moves .up, .moves .down").count()
        if moved:
            break
    assert len(set(asked)) == len(asked), "a page was asked twice"
    assert moved, "no answer moved anything"
    assert [each["url"] for each in watched.dashboard.ask("/api/crawls/stars/frontier?limit=20")["next"]] != queue
    expect(page.locator(".taught")).to_contain_text(re.compile(r"Relevant pages: [\d,]+ → [\d,]+"))
    printed = watched.dashboard.ask("/api/crawls/stars/labels")["labels"]
    assert {asked[0]: True}.items() <= {each["url"]: each["relevant"] for each in printed}.items()


def test_an_answer_is_undone_and_a_question_skipped_by_key(look, watched):
    page = look().visit("/music/label")
    first = page.locator(".question .where bdi").inner_text()
    expect(page.locator(".question .why")).to_contain_text(re.compile(r"Rank [\d,]+ of [\d,]+"))
    page.keyboard.press("s")
    expect(page.locator(".question .where bdi")).not_to_have_text(first)
    second = page.locator(".question .where bdi").inner_text()
    page.keyboard.press("y")
    expect(page.locator(".taught")).to_contain_text(second, timeout=40_000)
    page.keyboard.press("u")
    expect(page.locator(".taught")).to_contain_text("Label removed", timeout=40_000)
    last = watched.dashboard.ask("/api/crawls/music/labels")["labels"][-1]
    assert (last["url"], last["relevant"]) == (second, None)


def test_a_label_is_given_and_taken_back_on_the_screen_of_the_page(look, watched):
    page = look().visit(f"/music/page?url={quote(seed(watched), safe='')}")
    page.keyboard.press("n")
    expect(page.locator("button.no")).to_have_attribute("aria-pressed", "true", timeout=40_000)
    page.keyboard.press("u")
    expect(page.locator("button.no")).not_to_have_attribute("aria-pressed", "true", timeout=40_000)


def test_a_host_is_blocked_and_released(look, watched):
    page = look().visit("/music/hosts")
    row = page.locator("tbody tr").first
    host = row.locator("th").inner_text()
    row.locator("summary").click()
    row.get_by_label("Reason").fill("too <b>loud</b>")
    row.locator("details button").click()
    named = page.locator("tbody tr", has=page.locator("th", has_text=re.compile(f"^{re.escape(host)}$")))
    expect(named).to_contain_text("too <b>loud</b>")
    page.get_by_role("link", name="parked only").click()
    named.get_by_role("button", name=f"Release {host}").click()
    expect(named).to_have_count(0)
    listed = watched.dashboard.ask("/api/crawls/music/hosts")["hosts"]
    assert {each["host"]: each["parked"] for each in listed}[host] == ""


def test_a_refusal_is_shown_in_words(look):
    somebody = look()
    page = somebody.visit("/music/hosts")
    row = page.locator("tbody tr").first
    row.locator("summary").click()
    page.evaluate(
        "document.querySelector('tbody details form').dataset.post = '/api/crawls/music/hosts/no-such.example/release'"
    )
    row.get_by_label("Reason").fill("none")
    row.locator("details button").click()
    expect(page.locator("#message")).to_be_visible()
    assert page.locator("#message").inner_text()
    somebody.complaints.messages.clear()  # the browser names the refused request as an error
