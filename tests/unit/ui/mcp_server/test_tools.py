"""The list of crawls that an agent reads, and which folders it may name."""

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from testing.screens import crawls as world
from thresher_ui.mcp_server.tools import CrawlTools


@pytest.fixture
def root(tmp_path):
    world.write(tmp_path / "solar", pages=20, hosts=3)
    world.write(tmp_path / "tea", pages=10, hosts=3)
    return tmp_path


async def test_crawls_are_listed_with_topic_state_and_counts(root):
    (root / "bad").mkdir()
    (root / "bad" / "topic.yaml").write_text("title: [", encoding="utf-8")
    bad, solar, tea = (await CrawlTools(root).list_crawls())["crawls"]
    assert (bad["crawl"], bad["state"]) == ("bad", "unreadable")
    assert (solar["crawl"], solar["topic"], solar["state"], solar["pages"]) == ("solar", "balan bamor", "stopped", 20)
    assert solar["relevant"] > 0
    assert tea["pages"] == 10


async def test_the_folder_of_a_crawl_is_a_root_with_this_crawl_alone(root):
    tools = CrawlTools(root / "solar")
    assert [each["crawl"] for each in (await tools.list_crawls())["crawls"]] == ["solar"]
    assert (await tools.status("solar"))["counts"]["pages"] == 20
    with pytest.raises(ToolError, match="not a name of a crawl"):
        await tools.status("tea")
