"""Names of crawls, and what a user of the dashboard may do to them."""

import pytest

from thresher.coordination.run_control import read_run_control
from thresher.crawl import CrawlSetup
from thresher_ui.dashboard import control
from thresher_ui.dashboard.errors import Refused
from thresher_ui.dashboard.service import by_name


def named(tmp_path, folder, name):
    root = tmp_path / folder
    root.mkdir(parents=True)
    (root / "topic.yaml").write_text(
        f"name: '{name}'\ntitle: {{en: sun}}\nseeds: ['http://a.example/']\n", encoding="utf-8"
    )
    return CrawlSetup.open(root)


def test_crawls_of_one_name_are_distinguished(tmp_path):
    crawls = [named(tmp_path, "a", "solar"), named(tmp_path, "b", "solar"), named(tmp_path, "c", "wind")]
    assert list(by_name(crawls)) == ["solar", "solar-2", "wind"]


@pytest.mark.parametrize(("name", "shown"), [("api", "api-2"), ("static", "static-2"), ("a/b", "a-b"), ("..", "..-2")])
def test_no_crawl_hides_an_address_of_the_dashboard(tmp_path, name, shown):
    assert list(by_name([named(tmp_path, "a", name)])) == [shown]


async def run_control_of(crawl):
    frontier = crawl.backend.frontier()
    try:
        return await read_run_control(frontier)
    finally:
        await frontier.close()


async def test_a_run_is_paused_goes_on_and_keeps_its_new_limits(service, crawl):
    with crawl.folder.only_one_run():
        status = await service.change("small", control.set_budgets, pages=500, minutes=3.5)
        assert status["budgets"]["pages"]["limit"] == 500
        assert (await service.change("small", control.control, do="pause"))["state"] == "paused"
        assert (await run_control_of(crawl)).limits() == {"pages": 500, "minutes": 3.5}
        assert (await service.change("small", control.control, do="resume"))["state"] == "running"
        assert (await run_control_of(crawl)).limits() == {"pages": 500, "minutes": 3.5}


async def test_what_a_crawl_cannot_do_now_is_refused(service, crawl):
    with pytest.raises(Refused, match="stopped"):
        await service.change("small", control.control, do="pause")
    with pytest.raises(Refused, match="no run is under way"):
        await service.change("small", control.set_budgets, pages=500)
    with crawl.folder.only_one_run(), pytest.raises(Refused, match="running"):
        await service.change("small", control.control, do="start")
