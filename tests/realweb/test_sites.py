"""How sites list, name, repeat and reserve their pages: one crawl of all of them, one outcome for each host."""

import gzip
from itertools import pairwise

import pytest

from testing.recording_server import Answer, Generated, page, recorder, text
from testing.recording_server.words import TOPIC_WORDS
from tests.faults.live import crawl

PLAIN = ["/", "/a"]
MAX_CALENDAR_REQUESTS = 120


def article(name, number=0, links=(), head="", **more):
    """Return a page on the topic that resembles no other."""
    words = " ".join(f"{word} {name}{number}x{place}" for place, word in enumerate(TOPIC_WORDS * 4))
    answer = page(f"Solar cells {name} {number}", f"Perovskite solar cells: {words}.", links, **more)
    return Answer(**{**vars(answer), "body": answer.body.replace("</head>", f"{head}</head>")})


def site(name, *, robots="", head="", headers=(), extra=None):
    """Return a site of two pages."""
    return {
        "/robots.txt": text(robots),
        "/": article(name, 0, ["/a"], head, headers=list(headers)),
        "/a": article(name, 1, (), head, headers=list(headers)),
        **(extra or {}),
    }


def here(request):
    """Return a page that is there, on a site that answers every address."""
    return article("here", int(request.path[-1]))


DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def listed(host, *paths):
    return f"{DECLARATION}<urlset>{''.join(f'<url><loc> http://{host}{path} </loc></url>' for path in paths)}</urlset>"


def listing(host):
    """Return a site whose pages are found by its sitemaps only: packed, with blanks before, and as text."""
    files = ["/packed.xml.gz", "/blanks.xml", "/mark.xml", "/list.txt", "/lie.xml"]
    index = "".join(f"<sitemap><loc>http://{host}{path}</loc></sitemap>" for path in files)
    return {
        "/robots.txt": text(f"Sitemap: http://{host}/index.xml\nSitemap: http://{host}/more.txt\n"),
        "/": article("listing"),
        "/index.xml": Answer(body=f"{DECLARATION}<sitemapindex>{index}</sitemapindex>", content_type="text/xml"),
        "/packed.xml.gz": Answer(body=gzip.compress(listed(host, "/p1").encode()), content_type="application/x-gzip"),
        "/lie.xml": Answer(body=gzip.compress(listed(host, "/p2").encode()), content_type="text/xml"),
        "/blanks.xml": Answer(body=f"\n \r\n{listed(host, '/p3')}", content_type="application/xml"),
        "/mark.xml": Answer(body=f"\ufeff\n{listed(host, '/p4')}", content_type="application/xml"),
        "/list.txt": text(f"http://{host}/p5\r\nhttp://{host}/p6\r\n"),
        "/more.txt": text(f"\ufeffhttp://{host}/p7\nhttp://elsewhere.test/p8\n"),
        **{f"/p{number}": article("listed", number) for number in range(1, 8)},
    }


def canonical(host):
    """Return a site that serves each article under four addresses, and names one of them as canonical."""
    forms = ["/art{}", "/art{}?ref=7", "/amp/art{}", "/print/art{}"]
    links = [form.format(number) for number in range(3) for form in forms]
    named = {number: f'<link rel=canonical href="http://{host}/art{number}">' for number in range(3)}
    found = {form.format(n): article(f"form{form[1:3]}", n, (), named[n]) for n in range(3) for form in forms}
    return {"/": article("canonical", 0, links), **found}


SIGNAL = "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n"
USAGE = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a train-ai=y\nAllow: /\n"
RSL = '<link rel="license" type="application/rsl+xml" href="/terms.xml">'
OTHERS = "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n"
RESERVED = Answer(body='[{"location": "/", "tdm-reservation": 1}]', content_type="application/json")
OPT_OUTS = {
    "noai.test": (site("noai", head='<meta name=robots content="noai, noimageai">'), {"noai", "noimageai"}),
    "tdm.test": (site("tdm", headers=[("TDM-Reservation", "1")]), {"tdm"}),
    "signal.test": (site("signal", robots=SIGNAL), {"ai-train"}),
    "usage.test": (
        site("usage", headers=[("Content-Usage", "search=y"), ("Content-Usage", "train-ai=n")]),
        {"ai-train"},
    ),
    "rsl.test": (site("rsl", head=RSL), {"rsl"}),
    "rsl-header.test": (
        site(
            "rsl-header",
            headers=[("Link", "</a>; rel=next"), ("Link", '</t>; rel="license"; type="application/rsl+xml"')],
        ),
        {"rsl"},
    ),
    "rsl-robots.test": (site("rsl-robots", robots="License: https://rsl-robots.test/terms.xml\n"), {"rsl"}),
    "for-others.test": (site("for-others", robots=OTHERS), set()),
    "tdm-file.test": (site("tdm-file", extra={"/.well-known/tdmrep.json": RESERVED}), set()),
    "ai-file.test": (site("ai-file", extra={"/ai.txt": text("User-Agent: *\nDisallow: /\n")}), set()),
}
"""Sites that state opt-outs, with what is stored of both of their pages. The files of the last two are not read."""

SITES = {
    "listing.test": listing("listing.test"),
    "canonical.test": canonical("canonical.test"),
    "copies.test": {"/": article("copies", 0, [f"/{n}" for n in range(9)]), "~/[0-9]": article("copy")},
    "soft-404.test": {
        "/": article("soft", 0, [f"/{kind}/{n}" for kind in ("gone", "here") for n in range(20)]),
        "~/here/[0-4]": Generated("tests.realweb.test_sites:here"),
        "*": page("Not on sale", "Sorry, we could not locate it. Our shop has perovskite solar cells."),
    },
    "calendar.test": {"/": article("calendar", 0, ["/days"]), "/days": Generated("calendar")},
    "nul.test": site("nul", robots="User-agent: *\0\nDisallow: /a\0\n"),
    "slow.test": site("slow", robots="User-agent: *\nCrawl-delay: 1,5 seconds\n"),
    "usage-robots.test": site("usage-robots", robots=USAGE),
    **{name: script for name, (script, _) in OPT_OUTS.items()},
}


@pytest.fixture(scope="module")
def sites():
    """The recording server after one crawl of all sites, and the stored pages by host and path."""
    settings = {"sitemaps": "all", "scope": {"traps": "leave"}}
    with recorder(SITES) as w:
        result = crawl(w, [w.url(name) for name in SITES], settings, seconds=60)
        assert result.exit_code == 0, result.stderr
        stored = {name: {} for name in SITES}
        for each in result.pages:
            host, _, path = each["url"].removeprefix("http://").partition("/")
            stored[host][f"/{path}"] = each
        yield w, stored


def test_pages_are_found_by_every_kind_of_sitemap(sites):
    _, stored = sites
    assert set(stored["listing.test"]) == {"/", *(f"/p{number}" for number in range(1, 8))}


def test_one_page_is_kept_of_those_with_one_canonical_address(sites):
    _, stored = sites
    kept = [path for path, each in stored["canonical.test"].items() if not each["duplicate_of"]]
    assert sorted(path.partition("art")[2][:1] for path in kept) == ["", "0", "1", "2"]


def test_one_page_is_kept_of_copies(sites):
    _, stored = sites
    assert len([each for each in stored["copies.test"].values() if not each["duplicate_of"]]) == 2


def test_pages_that_are_not_there_are_not_kept_for_their_status(sites):
    _, stored = sites
    kept = {path for path, each in stored["soft-404.test"].items() if not each["duplicate_of"]}
    assert {"/", *(f"/here/{number}" for number in range(5))} <= kept
    assert len(kept) <= 7


def test_a_calendar_is_left(sites):
    w, _ = sites
    assert len(w.hits("calendar.test")) <= MAX_CALENDAR_REQUESTS


def test_a_rule_with_a_nul_byte_is_obeyed(sites):
    w, stored = sites
    assert set(stored["nul.test"]) == {"/"}
    assert w.hits("nul.test", "/a") == []


def test_a_delay_with_a_comma_and_a_unit_is_obeyed(sites):
    w, stored = sites
    assert set(stored["slow.test"]) == set(PLAIN)
    pages = sorted(hit.start_ns for hit in w.hits("slow.test") if hit.path in PLAIN)
    assert min(later - earlier for earlier, later in pairwise(pages)) >= 1.5e9


@pytest.mark.parametrize("name", OPT_OUTS)
def test_what_a_site_reserves_is_stored_with_its_pages(sites, name):
    w, stored = sites
    _, expected = OPT_OUTS[name]
    assert {path: set(each["opt_outs"].split()) for path, each in stored[name].items()} == dict.fromkeys(
        PLAIN, expected
    )
    assert not {"/ai.txt", "/.well-known/tdmrep.json"}.intersection(hit.path for hit in w.hits(name))


def test_a_statement_of_robots_txt_is_about_its_path(sites):
    _, stored = sites
    found = {path: each["opt_outs"] for path, each in stored["usage-robots.test"].items()}
    assert found == {"/": "ai-train", "/a": ""}


def test_opt_outs_are_obeyed_if_the_user_chose_so():
    names = ["usage.test", "usage-robots.test", "rsl.test", "for-others.test"]
    with recorder(SITES) as w:
        seeds = [url for name in names for url in (w.url(name), w.url(name, "/a"))]
        result = crawl(w, seeds, {"politeness": {"ai_optout": "obey"}}, seconds=60)
        assert not w.hits("usage-robots.test", "/")
    kept = {"http://usage-robots.test/a", *(f"http://{name}{path}" for name in names[2:] for path in PLAIN)}
    assert result.urls == kept
    assert "opted out: ai-train" in result.why("http://usage.test/")
