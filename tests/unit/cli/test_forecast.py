"""The live line and the closing summary show the forecast."""

from pathlib import Path

from thresher.cli.run import line_of, print_result
from thresher.frontier.base import Counts
from thresher.records import Forecast
from thresher.runner.limits import Progress, StopReason
from thresher.runner.supervisor import RunResult

AHEAD = Forecast(pages=240, least=0, most=1040)


def progress(forecast):
    counts = Counts(pages=250, relevant=50, waiting=3412)
    return Progress(counts=counts, pages_per_second=2.0, seconds=20.0, workers=1, forecast=forecast)


def test_the_live_line_has_the_interval():
    assert "50 relevant (harvest rate 0.20) · 0 to 1,040 relevant among 3,412 waiting · " in line_of(progress(AHEAD))
    assert "50 relevant (harvest rate 0.20) · 3,412 waiting · " in line_of(progress(None))


def test_the_closing_summary_has_the_interval(capsys):
    result = RunResult(ending=StopReason.STOPPED, progress=progress(AHEAD))
    print_result(Path("crawl"), result, as_json=False)
    printed = "0 to 1,040 of the 3,412 waiting URLs lead to relevant pages (90 % interval, computed after 240 pages)."
    assert f"Forecast: {printed}" in capsys.readouterr().err
    print_result(Path("crawl"), RunResult(ending=StopReason.STOPPED, progress=progress(None)), as_json=False)
    assert "Forecast" not in capsys.readouterr().err
