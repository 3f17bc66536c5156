"""The public suites, each run with Thresher and with the libraries that do the same job.

A suite is a function from the folder of suites to its rows; a row is what one program reached. A library that is not
installed has no row.
"""

from __future__ import annotations

import json
import re
import time
import urllib.robotparser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from ada_url import URL
from protego import Protego
from w3lib.encoding import html_to_unicode, resolve_encoding
from w3lib.url import canonicalize_url

from bench.conformance.articles import articles, main_texts, measure
from bench.conformance.legacy_pages import legacy_pages
from thresher.parsing.html import parse
from thresher.parsing.markup import decode, limit_markup
from thresher.politeness.robots import RobotsFile, robots_text
from thresher.text import OPEN
from thresher.text.languages import language, phrase_language
from thresher.urls.canonical import canonicalize

Program = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one program reached in one suite.

    Args:
        suite: The suite, and what is counted.
        program: Thresher, or a library.
        result: The figure, as it is printed.
        milliseconds: CPU time per case; None where it was not measured.
    """

    suite: str
    program: str
    result: str
    milliseconds: float | None = None


def counted(suite: str, programs: dict[str, Program], cases: Sequence[tuple[tuple[Any, ...], Any]]) -> list[Row]:
    """Call each program with the arguments of every case; count the results that are as expected."""
    rows = []
    for name, program in programs.items():
        begun = time.process_time()
        right = sum(_attempt(program, arguments) == expected for arguments, expected in cases)
        milliseconds = 1000 * (time.process_time() - begun) / len(cases)
        rows.append(Row(suite=suite, program=name, result=f"{right} of {len(cases)}", milliseconds=milliseconds))
    return rows


def _attempt(program: Program, arguments: tuple[Any, ...]) -> Any:
    try:
        return program(*arguments)
    except Exception as error:  # an exception is a wrong answer, whatever its type
        return error


def urls(folder: Path) -> list[Row]:
    """Resolve the inputs of the URL standard; only http and https are crawlable, and fragments are not compared.

    Thresher's canonical form is also cleaned (case of escapes, empty queries, session ids). The expected URL is cleaned
    in the same way, so that only the resolution is compared.
    """
    tests = [test for test in json.loads((folder / "wpt-urltestdata.json").read_text()) if isinstance(test, dict)]
    cases = [((test["input"], test.get("base")), _crawlable(test)) for test in tests]
    cleaned = [(arguments, expected and (canonicalize(expected) or expected)) for arguments, expected in cases]
    http_only = [case for case in cases if case[1]]
    return [
        *counted("URLs (web-platform-tests), all", {"Thresher": canonicalize}, cleaned),
        *counted("URLs (web-platform-tests), all", {"ada-url": _by_ada}, cases),
        *counted("URLs, those that are http or https", {"w3lib": _by_w3lib, "urllib": _by_urllib}, http_only),
    ]


def _crawlable(test: dict[str, Any]) -> str | None:
    if test.get("failure") or not test["href"].startswith(("http:", "https:")):
        return None
    return _without_extras(URL(test["href"]))


def _without_extras(url: URL) -> str:
    url.username = url.password = ""
    return url.href.partition("#")[0]


def _by_ada(url: str, base: str | None) -> str | None:
    try:
        parsed = URL(url, base) if base else URL(url)
    except ValueError:
        return None
    return _without_extras(parsed) if parsed.protocol in ("http:", "https:") else None


def _by_w3lib(url: str, base: str | None) -> str:
    return canonicalize_url(_by_urllib(url, base))


def _by_urllib(url: str, base: str | None) -> str:
    return (urljoin(base, url) if base else url).partition("#")[0]


def robots(folder: Path) -> list[Row]:
    """Compare verdicts with those of Google's parser on its own test cases."""
    cases = list({(body, agent, url): allowed for body, agent, url, allowed in _robots_cases(folder)}.items())
    programs = {"Thresher": _by_thresher, "protego": _by_protego, "urllib.robotparser": _by_robotparser}
    return counted("robots.txt (Google's cases)", programs, cases)


def _robots_cases(folder: Path) -> Iterator[tuple[bytes, str, str, bool]]:
    """Read the records: four byte strings with their lengths (name, file, agent, URL), and the verdict."""
    with (folder / "google-robots-cases.bin").open("rb") as records:
        while length := records.readline():
            fields = [records.read(int(length))]
            records.read(1)
            for _ in range(3):
                fields.append(records.read(int(records.readline())))
                records.read(1)
            allowed = bool(int(records.readline()))
            yield fields[1], fields[2].decode(), fields[3].decode("utf-8", "surrogateescape"), allowed


def _by_thresher(body: bytes, agent: str, url: str) -> bool:
    return RobotsFile(200, robots_text(body), token=agent).allows(url)


def _by_protego(body: bytes, agent: str, url: str) -> bool:
    return bool(Protego.parse(body.decode("utf-8", "replace")).can_fetch(url, agent))


def _by_robotparser(body: bytes, agent: str, url: str) -> bool:
    parser = urllib.robotparser.RobotFileParser()
    parser.parse(body.decode("utf-8", "replace").splitlines())
    return parser.can_fetch(agent, url)


def charsets(folder: Path) -> list[Row]:
    """Decode the pages of html5lib's encoding tests, and pages in legacy charsets that declare none."""
    declared = []
    for path in sorted((folder / "html5lib-encoding").glob("*.dat")):
        for test in path.read_bytes().split(b"#data\n")[1:]:
            data, _, name = test.partition(b"\n#encoding\n")
            charset = name.split()[0].decode()
            declared.append(((data,), data.decode(resolve_encoding(charset) or charset, "replace").lstrip("\ufeff")))
    undeclared = [((body,), text) for _, body, text in legacy_pages()]
    by_thresher = {"Thresher": lambda body: decode(body, "text/html")}
    return [
        *counted("charsets, declared (html5lib-tests)", by_thresher | {"w3lib": _decode_w3lib}, declared),
        *counted("charsets, none declared (19 pages of our own)", by_thresher | _charset_detectors(), undeclared),
    ]


def _decode_w3lib(body: bytes) -> str:
    return html_to_unicode("text/html", body)[1].lstrip("\ufeff")


def _charset_detectors() -> dict[str, Program]:
    found: dict[str, Program] = {"w3lib": _decode_w3lib}
    if find_spec("charset_normalizer"):
        from charset_normalizer import from_bytes

        found["charset-normalizer"] = lambda body: str(from_bytes(body).best())
    if find_spec("resiliparse"):
        from resiliparse.parse.encoding import detect_encoding

        found["resiliparse"] = lambda body: body.decode(detect_encoding(body), "replace")
    return found


def main_text(folder: Path) -> list[Row]:
    """Compare the main text of real articles with what a person marked."""
    pages, rows = list(articles(folder)), []
    for name, extract in main_texts().items():
        quality, milliseconds = measure(extract, pages)
        result = f"F1 {quality.f1:.3f} (precision {quality.precision:.3f}, recall {quality.recall:.3f})"
        suite = f"main text of {len(pages)} articles (article-extraction-benchmark)"
        rows.append(Row(suite=suite, program=name, result=result, milliseconds=milliseconds))
    return rows


def markup(folder: Path) -> list[Row]:
    """Count the real pages that the limits on markup leave whole."""
    cases = [((decode(page.html, ""),), True) for page in articles(folder)]
    return counted("real pages whose markup is not cut", {"Thresher": lambda text: limit_markup(text) == text}, cases)


def links(folder: Path) -> list[Row]:
    """Compare the links of real pages with those that parsel finds; URLs are compared in canonical form."""
    from parsel import Selector

    wanted = found = 0
    seconds = {"Thresher": 0.0, "parsel": 0.0}
    pages = list(articles(folder))
    for article in pages:
        url, body = canonicalize(article.url) or "https://example.org/", article.html
        begun = time.process_time()
        links_found = {link.url for link in parse(url, body).links}
        parsed = time.process_time()
        page = Selector(text=decode(body, ""))
        hrefs = [href.strip() for href in page.xpath("//a/@href|//area/@href").getall()]
        base = canonicalize(page.xpath("//base/@href").get() or url, url) or url
        seconds["Thresher"] += parsed - begun
        seconds["parsel"] += time.process_time() - parsed
        expected = {link for href in hrefs if not href.startswith("#") and (link := canonicalize(href, base))}
        wanted += len(expected)
        found += len(expected & links_found)
    suite = "links of real pages, of those that parsel finds"
    milliseconds = {name: 1000 * spent / len(pages) for name, spent in seconds.items()}
    return [
        Row(suite=suite, program="Thresher", result=f"{found} of {wanted}", milliseconds=milliseconds["Thresher"]),
        Row(suite=suite, program="parsel", result=f"{wanted} of {wanted}", milliseconds=milliseconds["parsel"]),
    ]


def phrases(folder: Path) -> list[Row]:
    """Count topic phrases whose language is right or left open, and those whose language is right."""
    lines = (folder / "phrases.tsv").read_text(encoding="utf-8").splitlines()
    cases = [((phrase,), code) for code, _, phrase in (line.partition("\t") for line in lines)]
    answers = [(phrase_language(*phrase), code) for phrase, code in cases]
    not_wrong = sum(found in (code, OPEN) for found, code in answers)
    right = sum(found == code for found, code in answers)
    result = f"{not_wrong} of {len(cases)} right or open ({right} right)"
    return [Row(suite="language of a topic phrase, 16 languages", program="Thresher", result=result)]


_DECLARED = re.compile(rb"<html[^>]*\blang=[\"']?([a-zA-Z]{2})").search


def languages(pages: Path) -> list[Row]:
    """Detect the language of real pages whose declared language agrees with resiliparse's detector on their main text.

    Where the words of a page do not suffice, Thresher takes its declaration, as in a crawl.
    """
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.lang import detect_fast

    cases = []
    for body in map(Path.read_bytes, sorted(pages.glob("*.html"))):
        declared = _DECLARED(body)
        text = extract_plain_text(decode(body, ""), main_content=True, alt_texts=False)
        if declared and declared[1].decode().lower() == detect_fast(text)[0]:
            page = parse("https://example.org/", body)
            cases.append(((page.text, page.language), declared[1].decode().lower()))
    programs: dict[str, Program] = {"Thresher": lambda text, known: language(text) or known}
    if find_spec("py3langid"):
        from py3langid import classify

        programs["py3langid"] = lambda text, _: classify(text)[0]
    return counted("language of real pages, on which two sources agree", programs, cases)
