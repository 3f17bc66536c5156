"""robots.txt after RFC 9309: who may be asked for what, and for how long that is known."""

import pytest

from thresher.parsing.opt_outs import denied_uses
from thresher.politeness import robots as module
from thresher.politeness.robots import (
    DAY_SECONDS,
    KEPT_SECONDS,
    LOST_SECONDS,
    MAX_BYTES,
    UNREACHABLE_SECONDS,
    RobotsCache,
    RobotsFile,
    robots_url,
)
from thresher.reasons.legacy import legacy_reason
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

RULES = b"User-agent: *\nDisallow: /private\nCrawl-delay: 3\n"
PLACE = "http://a.example/robots.txt"
SECOND = "http://b.example/robots.txt"


@pytest.fixture
def frontier(clock):
    return MemoryFrontier(clock=clock)


@pytest.fixture
def robots(frontier, clock):
    return robots_cache(frontier, clock)


def robots_cache(frontier, clock):
    return RobotsCache(frontier, token="Thresher", clock=clock)


async def after(robots, status, body=b"", **more):
    """Return the rules after one answer."""
    await robots.learn(PLACE, status, body, **more)
    return await robots.file_for("http://a.example/")


def test_rules_live_at_the_root_of_scheme_and_authority():
    assert robots_url("https://a.example:8443/b/c?d") == "https://a.example:8443/robots.txt"


async def test_rules_must_be_fetched_first(robots):
    assert await robots.file_for("http://a.example/") is None
    assert await robots.look_up("http://a.example/x") == PLACE


async def test_rules_are_obeyed(robots):
    file = await after(robots, 200, RULES)
    assert file.allows("http://a.example/public")
    assert not file.allows("http://a.example/private/1")
    assert file.crawl_delay_seconds == 3.0


async def test_http_and_https_have_rules_of_their_own(robots):
    await robots.learn(PLACE, 200, RULES)
    assert await robots.file_for("https://a.example/") is None


@pytest.mark.parametrize("status", [300, 304, 400, 401, 403, 404, 410, 451])
async def test_other_answers_mean_that_there_are_no_rules(robots, status):
    file = await after(robots, status, b"User-agent: *\nDisallow: /\n")
    assert file.allows("http://a.example/private")


@pytest.mark.parametrize("status", [0, 429, 500, 503, 599, 999])
async def test_a_server_error_means_nothing_may_be_fetched(robots, status):
    file = await after(robots, status, b"User-agent: *\nAllow: /\n")
    assert file.unreachable
    assert not file.allows("http://a.example/")


async def test_what_one_worker_read_all_know(frontier, clock):
    await robots_cache(frontier, clock).learn(PLACE, 200, RULES)
    file = await robots_cache(frontier, clock).file_for("http://a.example/z")
    assert file is not None
    assert not file.allows("http://a.example/private")


async def test_rules_are_read_again_after_a_day(robots, clock):
    await robots.learn(PLACE, 200, RULES)
    clock.now += KEPT_SECONDS - 1
    assert await robots.file_for("http://a.example/") is not None
    clock.now += 1
    assert await robots.look_up("http://a.example/") == PLACE


async def test_a_file_that_cannot_be_read_is_asked_for_again_ever_later(robots, clock):
    pauses = []
    for _ in range(10):
        file = await after(robots, 503)
        pauses.append(file.until - clock.now)
        clock.now = file.until
        assert await robots.file_for("http://a.example/") is None
    assert pauses[:4] == [UNREACHABLE_SECONDS, 1200, 2400, 4800]
    assert pauses[-1] == DAY_SECONDS
    assert str(file.trouble) == "robots.txt cannot be read: http 503, 10 times in a row"


async def test_a_host_that_says_when_to_come_back_is_believed_up_to_a_day(robots, clock):
    assert (await after(robots, 503, wait_seconds=7200)).until == clock.now + 7200
    assert (await after(robots, 503, wait_seconds=1e9)).until == clock.now + 7200  # still known in this worker
    clock.now += 7200
    assert (await after(robots, 503, wait_seconds=1e9)).until == clock.now + DAY_SECONDS


async def test_a_file_that_was_read_ends_the_count(robots, clock):
    clock.now = (await after(robots, 503)).until
    clock.now = (await after(robots, 404)).until
    assert (await after(robots, 503)).until == clock.now + UNREACHABLE_SECONDS


async def test_after_thirty_days_without_an_answer_there_are_no_rules(robots, clock):
    start = clock.now
    file = await after(robots, 0, reason=legacy_reason("timeout"))
    while clock.now - start < LOST_SECONDS:
        assert str(file.trouble).startswith("robots.txt cannot be read: timeout")
        clock.now = file.until
        file = await after(robots, 0, reason=legacy_reason("timeout"))
    assert file.allows("http://a.example/")
    assert file.until == clock.now + DAY_SECONDS


async def test_thirty_days_in_which_nobody_asked_do_not_count(robots, clock):
    await after(robots, 503)
    clock.now += LOST_SECONDS + 1
    assert (await after(robots, 503)).unreachable


async def test_every_redirect_is_asked_by_itself_and_the_rules_hold_for_the_first_host(robots):
    await robots.learn(PLACE, 301, target=SECOND)
    assert await robots.look_up("http://a.example/private") == SECOND
    await robots.learn(SECOND, 200, RULES)
    file = await robots.file_for("http://a.example/private")
    assert not file.allows("http://a.example/private")


@pytest.mark.parametrize(("redirects", "obeyed"), [(5, True), (6, False)])
async def test_five_redirects_are_followed_and_no_more(robots, redirects, obeyed):
    for number in range(redirects):
        place = await robots.look_up("http://a.example/private")
        await robots.learn(place, 302, target=f"http://a.example/robots-{number}")
    place = await robots.look_up("http://a.example/private")
    if obeyed:
        await robots.learn(place, 200, RULES)
        place = await robots.look_up("http://a.example/private")
    assert isinstance(place, RobotsFile)
    assert place.allows("http://a.example/private") is not obeyed


async def test_a_circle_of_redirects_has_no_rules(robots):
    await robots.learn(PLACE, 301, target=SECOND)
    await robots.learn(SECOND, 301, target=PLACE)
    assert (await robots.file_for("http://a.example/")).allows("http://a.example/")


async def test_rules_behind_a_redirect_hold_as_long_as_the_oldest_hop(robots, clock):
    await robots.learn(PLACE, 301, target=SECOND)
    clock.now += 1000
    await robots.learn(SECOND, 200, RULES)
    assert (await robots.file_for("http://a.example/")).until == clock.now - 1000 + KEPT_SECONDS


async def test_of_a_long_file_the_whole_lines_of_the_first_part_are_read(robots):
    rules = b"User-agent: *\nDisallow: /early\n"
    padding = b"#" * (MAX_BYTES - len(rules) - 12) + b"\n"
    file = await after(robots, 200, rules + padding + b"Allow: /early/but-cut\nDisallow: /late\n")
    assert not file.allows("http://a.example/early/but-not")
    assert file.allows("http://a.example/late")


async def test_files_are_forgotten_before_they_fill_the_memory(robots, monkeypatch):
    monkeypatch.setattr(module, "_CACHED_CHARACTERS", 5_000)
    for number in range(100):
        await robots.learn(f"http://h{number}.example/robots.txt", 200, RULES)
        assert await robots.file_for(f"http://h{number}.example/")
    assert len(robots._files) < 5
    assert await robots.file_for("http://h0.example/") is not None  # the store still has it


async def test_a_byte_order_mark_is_no_part_of_the_rules(robots):
    assert not (await after(robots, 200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /x")).allows("http://a.example/x")


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("Crawl-delay: 2.5", 2.5),
        ("Crawl-delay: -1", 0),
        ("Crawl-delay: NaN", 0),
        ("Crawl-delay: inf", 0),
        ("Crawl-delay: 1e999", 0),
        ("Crawl-delay: soon", 0),
        ("Crawl-delay: 5s", 5),
        ("crawl-delay: 5 seconds # please", 5),
        ("Crawl-delay: 1,5", 1.5),
        ("Crawl-delay: 2.5 sec", 2.5),
        ("Crawl-delay:", 0),
        ("Request-rate: 1/20", 20),
        ("Request-rate: 4/1m", 15),
        ("Request-rate: 0/5", 0),
        ("Request-rate: 1/5 0900-1700", 5),
        ("Crawl-delay: 3\nRequest-rate: 1/7", 7),
    ],
)
def test_a_site_says_how_long_to_wait(line, seconds):
    assert RobotsFile(200, f"User-agent: *\n{line}\n").crawl_delay_seconds == seconds


async def test_a_nul_byte_ends_its_line_and_the_rule_before_it_holds(robots):
    file = await after(robots, 200, b"User-agent: *\0\nDisallow: /private\0/not\nDisallow: /also\n")
    assert not file.allows("http://a.example/private/1")
    assert not file.allows("http://a.example/also")
    assert file.allows("http://a.example/public")


@pytest.mark.parametrize("text", ["\x00\x01\xff", "Crawl-delay: 9", "<html>Disallow: /</html>", "a" * 100_000])
def test_garbage_neither_breaks_nor_delays(text):
    file = RobotsFile(200, text)
    assert file.crawl_delay_seconds == 0.0
    assert file.allows("http://a.example/")


@pytest.mark.parametrize("note", ['[404, "", 1.0]', '{"status": 404, "mood": "good"}', "not JSON"])
async def test_what_another_version_wrote_down_is_asked_for_again(note, robots, frontier):
    await frontier.put_state("a.example", PLACE, note, seconds=60)
    assert await robots.look_up("http://a.example/x") == PLACE


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("User-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /", {"ai-train"}),
        ("content-signal: ai-train=no\n\nUser-agent: *\nDisallow:", {"ai-train"}),
        ("User-agent: Otherbot\nContent-Signal: ai-train=no\nDisallow: /", set()),
        ("User-agent: *\nContent-Signal: ai-train=no\nAllow: /\nUser-agent: Thresher\nAllow: /", set()),
        ("User-agent: Thresher\nContent-Signal: ai-input=no\nAllow: /", {"ai-input"}),
        ("# Content-Signal: ai-train=no\nUser-agent: *\nAllow: /", set()),
        ("User-agent: *\nDisallow: /x", set()),
        ("User-agent: *\nContent-Usage: train-ai=n\nAllow: /", {"ai-train"}),
        ("User-agent: *\nContent-Usage: search=y, train-ai=y\nAllow: /", set()),
        ("User-agent: Otherbot\nContent-Usage: train-ai=n\nDisallow: /", set()),
        ("User-agent: *\nContent-Usage: train-ai=n\nContent-Signal: ai-input=no", {"ai-train", "ai-input"}),
        ("License: https://a.example/terms.xml\nUser-agent: *\nAllow: /", {"rsl"}),
        ("User-agent: Otherbot\nAllow: /\nLicense: https://a.example/terms.xml", {"rsl"}),
        ("License: free of charge", set()),
    ],
)
def test_the_statements_on_uses_of_our_group_are_read(text, denied):
    file = RobotsFile(200, text)
    assert denied_uses(file.signals("http://a.example/")) == denied
    assert file.allows("http://a.example/")


def test_a_statement_for_a_path_counts_there_and_the_longest_path_wins():
    lines = ["Content-Usage: train-ai=n", "Content-Usage: /open/ train-ai=y", "Content-Usage: /open/*.pdf train-ai=n"]
    file = RobotsFile(200, "\n".join(["User-agent: *", *lines]))
    paths = {"/": {"ai-train"}, "/open/a": set(), "/open/a.pdf": {"ai-train"}}
    assert {path: denied_uses(file.signals(f"http://a.example{path}")) for path in paths} == paths
