"""thresher verify says what does not agree, repairs it, and ends with 1 when something is wrong."""

import asyncio
import json

from click.testing import CliRunner

from tests.unit.verify.conftest import SmallCrawl, page, url
from thresher.cli import thresher


def crawl_with_a_lost_link(folder):
    small = SmallCrawl(folder / "small")
    small.keep(page(1, [2, 3]))
    asyncio.run(small.settle(page(1, [2])))
    return small


def called(small, *options):
    return CliRunner().invoke(thresher, ["verify", str(small.root), *options])


def test_what_is_wrong_is_printed_with_an_example_and_the_next_command(tmp_path):
    small = crawl_with_a_lost_link(tmp_path)
    done = called(small)
    assert done.exit_code == 1
    assert done.output.splitlines() == [
        "looked at 1 segment, 1 row, 2 links, 1 done URL",
        "   wrong  frontier: 1 link of settled pages is unknown to the frontier",
        f"    {url(3)}",
        f"repair it: thresher verify {small.root} --repair",
    ]


def test_repair_mends_it_and_ends_with_0(tmp_path):
    small = crawl_with_a_lost_link(tmp_path)
    done = called(small, "--repair")
    assert done.exit_code == 0
    assert done.output.splitlines()[1].startswith("repaired  frontier: 1 link of settled pages was unknown")
    assert called(small).output.splitlines()[-1] == "all parts agree"


def test_json_says_the_same(tmp_path):
    printed = json.loads(called(crawl_with_a_lost_link(tmp_path), "--json").output)
    assert printed["clean"] is False
    assert printed["looked_at"] == {"segments": 1, "rows": 1, "links": 2, "done URLs": 1}
    [finding] = printed["findings"]
    assert (finding["part"], finding["state"], finding["number"], finding["examples"]) == (
        "frontier",
        "wrong",
        1,
        [url(3)],
    )
