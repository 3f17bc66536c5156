"""A user whose language is Chinese reads Chinese: in the output of the commands, and on every screen."""

import json
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from starlette.applications import Starlette

from testing.untranslated import english_words
from tests.e2e.conftest import CommandLine, Site, quick, serving
from thresher.crawl import CrawlSetup
from thresher_ui.dashboard.screens import SCREENS, routes
from thresher_ui.dashboard.service import CrawlService

SOLAR = "<p>钙钛矿太阳能电池：钙钛矿层使太阳能电池更便宜，效率更高，是新能源研究的热点。</p>"
TEA = "<p>怎样泡绿茶，用什么样的茶壶，水温多少合适，茶叶怎样保存。</p>"
CHINESE = re.compile(r"[\u4e00-\u9fff]")
ATTRIBUTES = ("aria-label", "placeholder", "title", "data-hint", "data-lost", "alt")


def page(title, body, *links):
    anchors = "".join(f'<a href="{target}">{words}</a> ' for target, words in links)
    return f'<html lang="zh"><head><title>{title}</title></head><body><h1>{title}</h1>{body}{anchors}</body></html>'


PAGES = {
    "/": page("太阳能电池", SOLAR, ("/good", "钙钛矿电池"), ("/tea", "绿茶"), ("/moved", "旧址"), ("/gone", "已删除")),
    "/good": page("叠层电池", SOLAR, ("/better", "叠层太阳能电池"), ("/secret/x", "内部资料")),
    "/better": page("钙钛矿", SOLAR, ("/", "首页")),
    "/tea": page("绿茶", TEA, ("/copy", "同样的内容")),
    "/copy": page("绿茶", TEA),
    "/moved": (301, {"Location": "/good"}, ""),
    "/secret/x": page("内部资料", SOLAR),
    "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /secret\n"),
}


@dataclass(frozen=True)
class Crawled:
    """A crawl that is over, and what its first commands printed."""

    site: Site
    thresher: CommandLine
    printed: str

    @property
    def folder(self) -> Path:
        return self.thresher.folder / "solar"


@pytest.fixture(scope="module", autouse=True)
def chinese():
    """The environment of a user in China."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
            environment.delenv(name, raising=False)
        environment.setenv("LANG", "zh_CN.UTF-8")
        yield


@pytest.fixture(scope="module")
def crawled(tmp_path_factory, chinese):
    thresher = CommandLine(tmp_path_factory.mktemp("chinese"))
    with serving() as site:
        site.pages = dict(PAGES)
        made = thresher("new", "solar", "--topic", "钙钛矿太阳能电池", "--seed", site.url("/"))
        assert made.returncode == 0, made.stderr
        quick(thresher.folder / "solar")
        ran = thresher("run", "solar", "--pages", 100)
        assert ran.returncode == 0, ran.stderr
        yield Crawled(site, thresher, made.stderr + ran.stderr)


def assert_chinese(printed):
    """Check that every line that says something says it in Chinese."""
    assert CHINESE.search(printed), printed
    found = {line: words for line in printed.splitlines() if (words := english_words(line))}
    assert found == {}


def test_a_crawl_is_made_and_run_in_chinese(crawled):
    assert_chinese(crawled.printed)


def test_the_status_is_in_chinese(crawled):
    done = crawled.thresher("status", "solar")
    assert_chinese(done.stdout + done.stderr)
    assert "上次运行" in done.stdout


@pytest.mark.parametrize("path", ["/better", "/gone", "/secret/x", "/moved", "/copy", "/", "/unknown"])
@pytest.mark.parametrize("options", [(), ("--details",)], ids=["short", "details"])
def test_an_explanation_is_in_chinese(crawled, path, options):
    assert_chinese(crawled.thresher("why", "solar", crawled.site.url(path), *options).stdout)


def test_labels_are_given_in_chinese(crawled):
    for option, path in (("--yes", "/better"), ("--no", "/tea"), ("--forget", "/tea"), ("--yes", "/new")):
        done = crawled.thresher("label", "solar", option, crawled.site.url(path))
        assert done.returncode == 0, done.stderr
        assert_chinese(done.stdout + done.stderr)
    assert_chinese(crawled.thresher("why", "solar", crawled.site.url("/new"), "--details").stdout)  # it waits now


@pytest.mark.parametrize(
    "words",
    [
        ("hosts", "solar"),
        ("frontier", "solar"),
        ("search", "solar", "钙钛矿"),
        ("export", "solar", "-f", "csv", "-o", "pages.csv"),
        ("try", "solar", "/good", "--details"),
    ],
    ids=lambda words: words[0],
)
def test_other_commands_print_chinese(crawled, words):
    words = [crawled.site.url(word) if word.startswith("/") else word for word in words]
    done = crawled.thresher(*words)
    assert done.returncode == 0, done.stderr
    assert_chinese(done.stdout + done.stderr)


def test_the_doctor_speaks_chinese(crawled):
    assert_chinese(crawled.thresher("doctor", "solar").stdout)


@pytest.mark.parametrize(
    "words",
    [
        ("status", "nowhere"),
        ("status", "."),
        ("status",),
        ("stop", "solar"),
        ("statsu",),
        ("run",),
        ("why", "solar"),
        ("why", "solar", "nonsense:"),
        ("hosts", "solar", "--lmit"),
        ("label", "solar", "--count", "0"),
        ("export", "solar", "-f", "unheard-of"),
    ],
    ids=" ".join,
)
def test_an_error_is_in_chinese(crawled, words):
    done = crawled.thresher.apart(*words)
    assert done.returncode
    usage = re.compile(r"^用法：.*$", re.MULTILINE)
    assert_chinese(usage.sub("", done.stderr))


@pytest.mark.parametrize(
    "line",
    ["seeds: 7", "politeness: {delay_seconds: -1}", "stratgy: x", "stop: {pages: yes}", "title: [", "title: {a: *b}"],
)
def test_a_wrong_setting_is_named_in_chinese(tmp_path, line):
    (tmp_path / "topic.yaml").write_text(f"{line}\n", encoding="utf-8")
    done = CommandLine(tmp_path)("status", ".")
    assert done.returncode == 4
    assert re.match(r"topic\.yaml:[12]：", done.stderr)
    assert CHINESE.search(done.stderr)


@pytest.mark.parametrize("command", ["status", "why", "doctor"])
def test_json_is_the_same_in_every_language(crawled, monkeypatch, command):
    words = [command, "solar", *([crawled.site.url("/gone")] if command == "why" else []), "--json"]
    chinese = crawled.thresher(*words).stdout
    monkeypatch.setenv("LANG", "C")
    assert json.loads(crawled.thresher(*words).stdout) == json.loads(chinese)


def test_the_log_is_in_english(crawled):
    assert not CHINESE.search((crawled.folder / "crawl.log.jsonl").read_text(encoding="utf-8"))


@asynccontextmanager
async def browsing(folder):
    """Open the screens of a crawl; gives a browser whose user reads Chinese."""
    service = CrawlService({"solar": CrawlSetup.open(folder)})
    await service.open()
    transport = httpx2.ASGITransport(app=Starlette(routes=routes(service)))
    headers = {"accept-language": "zh-CN,zh;q=0.9"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765", headers=headers) as browser:
        yield browser
    await service.close()


def shown_texts(answer):
    """Yield the texts of a screen, with those that only programs for blind people read."""
    tree = LexborHTMLParser(answer.text)
    for node in tree.css("script, style, kbd"):
        node.decompose()
    for node in tree.css("*"):
        yield from (value for name in ATTRIBUTES if (value := node.attributes.get(name)))
    yield from tree.text(separator="\n", strip=True).splitlines()


@pytest.mark.parametrize("path", ["/", *(f"/solar/{name}" for name in SCREENS), "/nowhere/", "/solar/pages?topic=x"])
async def test_a_screen_is_in_chinese(crawled, path):
    queries = {"/solar/page": "/better", "/solar/search": None}
    if path == "/solar/search":
        path += "?q=钙钛矿"
    elif path in queries:
        path += f"?url={crawled.site.url(queries[path])}"
    async with browsing(crawled.folder) as browser:
        answer = await browser.get(path)
    texts = list(shown_texts(answer))
    assert any(CHINESE.search(text) for text in texts)
    assert {text: words for text in texts if (words := english_words(text))} == {}


async def test_what_an_answer_changed_is_shown_in_chinese(crawled):
    async with browsing(crawled.folder) as browser:
        answer = await browser.post("/solar/label", json={"url": crawled.site.url("/good"), "relevant": True})
    assert answer.status_code == 200, answer.text
    assert {text: words for text in shown_texts(answer) if (words := english_words(text))} == {}


@pytest.mark.parametrize("path", ["/gone", "/secret/x", "/moved", "/copy", "/unknown"])
async def test_why_a_url_has_no_page_is_shown_in_chinese(crawled, path):
    async with browsing(crawled.folder) as browser:
        answer = await browser.get(f"/solar/page?url={crawled.site.url(path)}")
    assert {text: words for text in shown_texts(answer) if (words := english_words(text))} == {}
