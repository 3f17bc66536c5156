"""What a strategy expects is shown by the live line and by ``status``."""

from thresher.cli.run import line_of
from thresher.cli.status import _ahead
from thresher.engine.progress import Progress
from thresher.frontier.base import Counts
from thresher.records import Forecast

AHEAD = Forecast(found=30.0, left=10.4, next_yield=0.25)


def progress(forecast):
    return Progress(
        counts=Counts(pages=40, relevant=30), pages_per_second=2.0, seconds=20.0, workers=1, forecast=forecast
    )


def test_the_live_line_says_how_much_is_left_if_the_strategy_can_tell():
    assert "relevant (0.75) · about 10 left · 0 waiting" in line_of(progress(AHEAD))
    assert "left" not in line_of(progress(None))


def test_status_says_how_much_is_left_and_found():
    assert _ahead(AHEAD) == {"expected_left": 10, "share_found": 0.743, "next_yield": 0.25}
    assert _ahead(None) == {}
