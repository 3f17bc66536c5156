"""A sitemap is read as far as the bounds go, without entities."""

import gzip
import tracemalloc
import zlib

import pytest

from thresher.sitemaps.parser import MAX_URLS, Entry, read_sitemap

NOW = 1_800_000_000.0  # in January 2027


def urlset(*entries):
    return "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>" + "".join(entries) + "</urlset>"


def read(text):
    return read_sitemap(text.encode() if isinstance(text, str) else text, now=NOW)


def test_pages_are_listed():
    found = read(urlset("<url><loc> http://a.example/1 </loc></url>", "<url><loc>/2?a=1&amp;b=2</loc></url>"))
    assert found.pages == [Entry("http://a.example/1"), Entry("/2?a=1&b=2")]
    assert (found.sitemaps, found.flaw) == ([], "")


def test_an_index_lists_sitemaps():
    found = read("<sitemapindex><sitemap><loc>/1.xml</loc></sitemap><url><loc>/no</loc></url></sitemapindex>")
    assert (found.sitemaps, found.pages) == ([Entry("/1.xml")], [])


def test_prefixes_and_images_do_not_matter():
    found = read(
        "<s:urlset xmlns:s='x' xmlns:i='y'><s:url><i:image><i:loc>/p.png</i:loc></i:image><s:loc>/1</s:loc>"
        "</s:url></s:urlset>"
    )
    assert found.pages == [Entry("/1")]


@pytest.mark.parametrize(
    ("written", "changed_at"),
    [
        ("2026-01-01", 1767225600.0),
        ("2026-01-01T01:00:00+01:00", 1767225600.0),
        ("2026-01-01T00:00:00Z", 1767225600.0),
        ("2099-01-01", 0.0),
        ("0001-01-01", 0.0),
        ("9999-12-31T23:59:59-12:00", 0.0),
        ("yesterday", 0.0),
        ("", 0.0),
    ],
)
def test_dates_that_have_not_come_yet_are_ignored(written, changed_at):
    found = read(urlset(f"<url><loc>/1</loc><lastmod>{written}</lastmod></url>"))
    assert found.pages == [Entry("/1", changed_at)]


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE urlset SYSTEM "http://evil.example/x.dtd">',
        f'<!DOCTYPE urlset [<!ENTITY l0 "ha">{LAUGHS}]>',
        '<!DOCTYPE urlset [<!ENTITY % x SYSTEM "http://evil.example/x.dtd"> %x;]>',
    ],
)
def test_document_types_are_refused(head):
    found = read(head + urlset("<url><loc>/&x;&l9;</loc></url>"))
    assert (found.pages, found.flaw) == ([], "declares a document type")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not XML at all",
        "<html><body>soft 404</body></html>",
        "<urlset><url><loc>/1</loc>",
        b"\x1f\x8b broken",
        b"\xff\xfe\x00",
        '<?xml version="1.0" encoding="klingon"?><urlset/>',
        "<urlset>" + "<url>" * 100_000,
    ],
)
def test_anything_can_be_read(text):
    assert len(read(text).pages) <= 1


def test_what_stands_before_a_flaw_is_kept():
    found = read("<urlset><url><loc>/1</loc></url><url><loc>/2</url>")
    assert found.pages == [Entry("/1")]
    assert found.flaw.startswith("not XML")


def test_the_addresses_of_a_file_are_limited():
    found = read(urlset(*("<url><loc>/1</loc></url>" for _ in range(MAX_URLS + 1))))
    assert len(found.pages) == MAX_URLS
    assert found.flaw == "more than 50,000 addresses"


def test_packed_files_are_unpacked():
    assert read(gzip.compress(urlset("<url><loc>/1</loc></url>").encode())).pages == [Entry("/1")]


@pytest.mark.parametrize(
    "before", ["\n \r\n\t", "\ufeff", "\ufeff\n", " " * 200_000], ids=["blanks", "mark", "both", "many"]
)
def test_blanks_and_a_byte_order_mark_before_the_declaration_do_not_matter(before):
    declared = f'{before}<?xml version="1.0" encoding="UTF-8"?>{urlset("<url><loc>/1</loc></url>")}'
    assert read(declared) == read(gzip.compress(declared.encode()))
    assert (read(declared).pages, read(declared).flaw) == ([Entry("/1")], "")


@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_text_file_lists_one_page_per_line(before, end):
    lines = ["http://a.example/1", "", "  HTTPS://a.example/straße ", "# a remark", "/2", "http://a.example/3"]
    written = (before + end.join(lines)).encode()
    expected = [Entry("http://a.example/1"), Entry("HTTPS://a.example/straße"), Entry("http://a.example/3")]
    for body in (written, gzip.compress(written)):
        found = read(body)
        assert (found.pages, found.sitemaps, found.flaw) == (expected, [], "")


def test_a_text_file_has_the_limits_of_other_sitemaps():
    found = read("http://a.example/1\n" * (MAX_URLS + 1))
    assert (len(found.pages), found.flaw) == (MAX_URLS, "more than 50,000 addresses")
    long = read(f"http://a.example/{'x' * 1_000_000}\nhttp://a.example/2")
    assert [len(page.address) for page in long.pages] == [4096, len("http://a.example/2")]


def test_a_bomb_is_cut_off_and_takes_no_memory():
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    spaces = bytes(1 << 20).replace(b"\0", b" ")
    bomb = packer.compress(b"<urlset>") + b"".join(packer.compress(spaces) for _ in range(200)) + packer.flush()
    tracemalloc.start()
    found = read(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.flaw == "larger than 50 MiB"
    assert peak < 4 << 20


def test_a_long_address_is_cut():
    found = read(urlset(f"<url><loc>/{'x' * 1_000_000}</loc></url>"))
    assert len(found.pages[0].address) == 4096
