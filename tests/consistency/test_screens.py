"""Screens show only numbers that are known: an index that is being built, marks of an axis, and the login page."""

import base64
import hashlib

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from starlette.applications import Starlette

from tests.unit.ui.dashboard.sample_service import SampleService
from thresher_ui.dashboard.charts import histogram
from thresher_ui.dashboard.guard import Guard
from thresher_ui.dashboard.login import login_route
from thresher_ui.dashboard.screens import routes
from thresher_ui.dashboard.security import HEADERS
from thresher_ui.dashboard.translations import texts_in


class NewIndex(SampleService):
    """A service whose search index holds no page, or some, so far."""

    indexed = 0

    async def search(self, name, **asked):
        return {"hits": [], "total": 0, "indexed": self.indexed, "growing": True}


async def text_of(service, path, language="en"):
    transport = httpx2.ASGITransport(app=Starlette(routes=routes(service)))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
        answer = await client.get(path, headers={"accept-language": language})
    assert answer.status_code == 200
    return LexborHTMLParser(answer.text)


@pytest.mark.parametrize(("language", "words"), [("en", "The index is being built: 0 of"), ("zh", "正在建立索引")])
async def test_u14_search_says_that_the_index_is_being_built(language, words):
    page = await text_of(NewIndex(), "/solar/search?q=cells", language)
    found = page.css_first("#found[data-live]")
    assert words in found.text()
    assert "The best" not in found.text()
    assert found.css_first("[data-growing]") is not None  # the screen asks again until it is there


async def test_u14_search_counts_what_is_found_once_the_index_is_there():
    found = (await text_of(SampleService(), "/solar/search?q=cells")).css_first("#found")
    assert "of 9 in the index" in found.text()
    assert found.css_first("[data-growing]") is None


@pytest.mark.parametrize("step", [0.1, 0.01, 0.001, 0.0001])
def test_u14_the_marks_of_the_frontiers_axis_differ(step):
    bins = [{"low": place * step / 40, "high": (place + 1) * step / 40, "count": 1} for place in range(40)]
    marks = [text.text() for text in LexborHTMLParser(str(histogram(bins, texts_in("en")))).css("text")]
    scores = [mark for mark in marks if mark.startswith("0.")]
    assert len(scores) >= 8
    assert len(set(scores)) == len(scores)


async def test_u14_the_login_page_has_the_style_of_the_screens():
    guard = Guard(names=frozenset(["127.0.0.1:8765"]))
    transport = httpx2.ASGITransport(app=Starlette(routes=[login_route(guard)]))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
        page = LexborHTMLParser((await client.get("/login")).text)
    [style] = page.css("style")
    digest = base64.b64encode(hashlib.sha256(style.text().encode()).digest()).decode()
    assert f"'sha256-{digest}'" in HEADERS["content-security-policy"]  # or a browser would not use it
    assert page.css_first("header.top .mark") is not None
