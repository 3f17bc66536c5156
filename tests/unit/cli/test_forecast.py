"""The live line and the closing summary show the forecast."""

from dataclasses import replace
from pathlib import Path

import pytest

from thresher.cli.run import line_of, print_result
from thresher.records import Forecast
from thresher.runner.limits import Limits, Progress, StopReason
from thresher.runner.supervisor import RunResult
from thresher.status import CrawlStatus
from thresher.text.terminal import columns

AHEAD = Forecast(pages=240, least=0, most=1040)


def progress(forecast):
    status = CrawlStatus(pages=250, relevant=50, waiting=3412, busy=1, forecast=forecast)
    return Progress(status=status, pages_per_second=2.0, seconds=20.0)


def test_the_live_line_has_the_interval():
    assert "50 relevant (harvest rate 0.20) · 0 to 1,040 relevant among 3,412 waiting · " in line_of(progress(AHEAD))
    assert "50 relevant (harvest rate 0.20) · 3,412 waiting · " in line_of(progress(None))


def test_the_live_line_has_the_target_and_the_time_that_is_left():
    running = replace(progress(AHEAD), limits=Limits(pages=500), recent_speed=2.5)
    assert line_of(running).startswith("250/500 pages · about 2 min left · 50 relevant (harvest rate 0.20) · ")
    soon = replace(running, limits=Limits(pages=500, minutes=1))
    assert "about 40 s left" in line_of(soon)
    assert "left" not in line_of(progress(None))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_the_live_line_fits_into_the_terminal(width):
    running = replace(progress(AHEAD), limits=Limits(pages=500), recent_speed=2.5)
    line = line_of(running, width)
    assert len(line) <= width
    assert line.startswith("250/500 pages · about 2 min left")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_live_line_fits_into_the_terminal_in_chinese_too(monkeypatch, width):
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    running = replace(progress(AHEAD), limits=Limits(pages=500), recent_speed=2.5)
    assert columns(line_of(running, width)) <= width
    assert line_of(running).startswith(
        "250/500 个网页 · 大约还需 2 分钟 · 相关 50 个（收获率 0.20） · 等待 3,412 个，其中 "
    )


def test_the_closing_summary_has_the_interval(capsys):
    result = RunResult(stop_reason=StopReason.STOPPED, progress=progress(AHEAD))
    print_result(Path("crawl"), result, as_json=False)
    printed = "0 to 1,040 of the 3,412 waiting URLs lead to relevant pages (90 % interval, computed after 240 pages)."
    assert f"Forecast: {printed}" in capsys.readouterr().err
    print_result(Path("crawl"), RunResult(stop_reason=StopReason.STOPPED, progress=progress(None)), as_json=False)
    assert "Forecast" not in capsys.readouterr().err
