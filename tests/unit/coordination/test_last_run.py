"""How the last run ended: stored in English, with a translation by its code for its readers."""

import asyncio
import json

import pytest

from thresher.coordination.last_run import ERROR, KIND, RUNNING, RunEnd, last_run_end, record_run_end
from thresher.frontier.base import CRAWL_WIDE
from thresher.locale.translation import translated


class States:
    """The shared state of a crawl in memory."""

    def __init__(self):
        self.stored = {}

    async def get_state(self, host, kind):
        return self.stored.get((host, kind))

    async def put_state(self, host, kind, content, *, seconds):
        self.stored[host, kind] = content


@pytest.mark.parametrize(
    ("ended", "chinese"),
    [
        (RunEnd(code="pages", words="the page limit is reached", exit_code=0), "已达到网页数的上限"),
        (
            RunEnd(code="resting", words="2 URLs remain on 1 busy host (HTTP 429)"),
            "剩余的网址在等待没有应答或已搁置的主机",
        ),
        (
            RunEnd(code="done", words="nothing could be fetched, every URL failed", exit_code=9),
            "没有抓到任何网页：没有可抓取的网址了",
        ),
        (RunEnd(code=ERROR, words="the disk is full", exit_code=3), "运行出错：the disk is full"),
        (RunEnd(code=RUNNING, words="the run has not ended yet"), "上次运行在结束之前被终止"),
        (RunEnd(code="of a later version", words="ended somehow"), "ended somehow"),
    ],
    ids=lambda value: getattr(value, "code", ""),
)
def test_an_end_is_stored_in_english_and_read_in_any_language(ended, chinese):
    states = States()
    asyncio.run(record_run_end(states, ended))
    assert json.loads(states.stored[CRAWL_WIDE, KIND])["words"] == ended.words
    read = asyncio.run(last_run_end(states, is_running=False))
    assert translated(read.words, "zh") == chinese
    assert ended.code == RUNNING or read.words == ended.words
