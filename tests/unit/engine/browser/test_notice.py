"""A crawl without a browser prints once that some host needs one."""

import pytest

from testing.block_pages import walls
from tests.unit.engine.browser.test_renderer import PLAIN, SHELL, lease, page
from thresher.config import browser
from thresher.config.schema import CrawlConfig
from thresher.engine.browser.notice import ScriptNotice
from thresher.runner.supervisor import take_notice
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


@pytest.fixture
def frontier(monkeypatch):
    monkeypatch.setattr(browser, "find_spec", lambda _: None)
    return MemoryFrontier()


async def test_the_first_host_is_named_with_what_to_install_and_only_once(frontier):
    notice = ScriptNotice(frontier)
    await notice.check(lease("a.example"), page(SHELL))
    await notice.check(lease("b.example"), page(SHELL))
    notice_text = await take_notice(frontier, CrawlConfig())
    assert notice_text.startswith("a.example sends pages without content")
    assert 'pip install "thresher-crawler[browser]"' in notice_text
    assert await take_notice(frontier, CrawlConfig()) == ""
    await ScriptNotice(frontier).check(lease("b.example"), page(SHELL))
    assert await take_notice(frontier, CrawlConfig()) == ""


@pytest.mark.parametrize("other", [page(PLAIN), page(walls()[0].html.encode())])
async def test_pages_with_text_and_challenges_need_no_browser(frontier, other):
    await ScriptNotice(frontier).check(lease(), other)
    assert await take_notice(frontier, CrawlConfig()) == ""
