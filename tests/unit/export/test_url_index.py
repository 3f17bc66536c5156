"""The URL index has the columns of Common Crawl's, true places of records, and nothing that is not known."""

import io
from contextlib import closing
from datetime import datetime
from uuid import UUID

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.unit.storage.warc.captures import HTML, answered, archived
from thresher.errors import ExportError
from thresher.export.formats import PageSelection
from thresher.export.url_index import ISO_639_3, URL_COLUMNS, URL_INDEX, url_parts
from thresher.storage.page_store import UNCHANGED, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.text.languages import RECOGNISED
from thresher.urls.canonical import fingerprint

SHOP, PDF, MOVED, HOME = (
    "https://www.shop.example.co.uk:8443/a/b?q=1",
    "http://papers.example.com/cells.pdf",
    "http://papers.example.com/old",
    "http://lab.github.io/",
)


def fetched(number, url, *, kind="text/html; charset=gbk", at=0, headers=(), **more):
    lines = [("Content-Type", kind)] if kind else [("X-Kind", "none")]
    return answered(
        number,
        fingerprint=fingerprint(url),
        url=url,
        fetched_at=1_700_000_000.25 + at,
        header_lines=[*lines, *headers],
        **more,
    )


@pytest.fixture
def crawl(tmp_path):
    """Four pages: one was fetched again as a copy of another, one was found unchanged, one was a redirect before."""
    captures = [
        fetched(1, SHOP, language="zh"),
        fetched(2, PDF, kind="application/pdf", language="en", at=1),
        fetched(3, MOVED, status=301, body=b"", headers=[("Location", "/new")], page=False, text="", at=2),
        fetched(4, MOVED, kind="", language="", at=100),
        fetched(5, HOME, language="de", relevance=0.3, at=3),
    ]
    later = fetched(6, SHOP, language="en", body=HTML.replace(b"Cells", b"Cells 5"), at=200)
    unchanged = fetched(7, PDF, status=304, body=b"", page=False, text="", reason=UNCHANGED, at=300)
    archived(tmp_path, *captures)
    archived(tmp_path, later, unchanged, worker="w2")
    with closing(PageStoreWriter(tmp_path / "pages" / "w1.db")) as writer:
        writer.write([record for record, _ in [*captures, later, unchanged]])
    return tmp_path


@pytest.fixture
def export(crawl):
    with PageStoreReader(crawl / "pages") as collection:

        def export(name="solar cells", **chosen):
            pages = PageSelection(
                collection=collection, chosen=chosen, crawl=name, topic="", several=False, warc=crawl / "warc"
            )
            return URL_INDEX.write(pages, crawl / "index", io.StringIO())

        yield export


@pytest.fixture
def rows(export, crawl):
    export()
    return ds.dataset(crawl / "index", partitioning="hive").to_table().to_pylist()


def row_of(rows, url, status=200):
    [first, *_] = sorted((row["fetch_time"], row) for row in rows if (row["url"], row["fetch_status"]) == (url, status))
    return first[1]


def test_the_columns_are_those_of_common_crawl_with_their_types(export, crawl):
    export()
    schema = pq.read_schema(crawl / "index" / "crawl=solar cells" / "subset=warc" / "part-00000.parquet")
    assert schema.names == list(URL_COLUMNS)
    types = {str(field.type) for field in schema if field.name.startswith("url_")}
    assert types == {"string", "int32"}
    assert str(schema.field("fetch_status").type) == "int16"
    assert str(schema.field("fetch_time").type) == "timestamp[us]"
    assert {str(schema.field(f"warc_record_{name}").type) for name in ("offset", "length")} == {"int32"}


def test_each_capture_is_at_its_place(rows, crawl):
    assert len(rows) == 7
    for row in rows:
        with (crawl / row["warc_filename"]).open("rb") as file:
            file.seek(row["warc_record_offset"])
            record = file.read(row["warc_record_length"])
        [found] = ArchiveIterator(io.BytesIO(record))
        assert found.rec_headers.get_header("WARC-Target-URI") == row["url"]
        assert found.http_headers.get_statuscode() == str(row["fetch_status"])
        assert found.rec_headers.get_header("WARC-Record-ID") == f"<urn:uuid:{UUID(bytes=row['warc_record_id'])}>"


def test_a_response_body_can_be_read_from_its_place(rows, crawl):
    row = row_of(rows, HOME)
    with (crawl / row["warc_filename"]).open("rb") as file:
        file.seek(row["warc_record_offset"])
        record = next(iter(ArchiveIterator(io.BytesIO(file.read(row["warc_record_length"])))))
    assert b"Perovskite" in record.content_stream().read()
    assert row["content_digest"] == record.rec_headers.get_header("WARC-Payload-Digest").removeprefix("sha1:")


def test_a_url_is_taken_apart_as_in_their_table():
    row = url_parts(SHOP)
    assert {name.removeprefix("url_"): value for name, value in row.items()} == {
        "surtkey": "uk,co,example,shop:8443)/a/b?q=1",
        "url": SHOP,
        "host_name": "www.shop.example.co.uk",
        "host_tld": "uk",
        "host_2nd_last_part": "co",
        "host_3rd_last_part": "example",
        "host_4th_last_part": "shop",
        "host_5th_last_part": "www",
        "host_registry_suffix": "co.uk",
        "host_registered_domain": "example.co.uk",
        "host_private_suffix": "co.uk",
        "host_private_domain": "example.co.uk",
        "host_name_reversed": "uk.co.example.shop.www",
        "protocol": "https",
        "port": 8443,
        "path": "/a/b",
        "query": "q=1",
    }


def test_a_private_suffix_is_not_that_of_the_registry():
    row = url_parts(HOME)
    assert (row["url_host_registry_suffix"], row["url_host_registered_domain"]) == ("io", "github.io")
    assert (row["url_host_private_suffix"], row["url_host_private_domain"]) == ("github.io", "lab.github.io")


@pytest.mark.parametrize("host", ["192.0.2.7", "[2001:db8::1]"])
def test_an_address_has_no_parts_and_no_domain(host):
    row = url_parts(f"http://{host}:8080/")
    assert (row["url_host_name"], row["url_port"], row["url_path"], row["url_query"]) == (host, 8080, "/", None)
    parts = {name for name in row if name.startswith("url_host_") and name != "url_host_name"}
    assert {row[name] for name in parts} == {None}


def test_the_response_is_as_its_headers_state_it(rows):
    page, pdf, moved = row_of(rows, SHOP), row_of(rows, PDF), row_of(rows, MOVED, 301)
    assert (page["content_mime_type"], page["content_charset"]) == ("text/html", "GBK")
    assert (pdf["content_mime_type"], pdf["content_charset"]) == ("application/pdf", None)
    assert moved["fetch_redirect"] == "http://papers.example.com/new"
    assert page["fetch_time"] == datetime(2023, 11, 14, 22, 13, 20, 250_000)


def test_what_is_not_known_is_null(rows):
    assert {row["warc_segment"] for row in rows} == {row["content_mime_detected"] for row in rows} == {None}
    assert {row["content_truncated"] for row in rows} == {None}
    page = row_of(rows, MOVED)
    assert (page["content_mime_type"], page["content_languages"], page["fetch_redirect"]) == (None, None, None)
    unchanged = row_of(rows, PDF, 304)
    assert (unchanged["content_languages"], unchanged["content_digest"]) == (None, None)


def test_a_capture_has_the_language_of_its_own_time(rows):
    ours = sorted((row["fetch_time"], row["content_languages"]) for row in rows if row["url"] == SHOP)
    assert [language for _, language in ours] == ["zho", "eng"]


def test_captures_without_a_page_are_in_the_subset_for_them(rows):
    subsets = {(row["subset"], row["fetch_status"]) for row in rows}
    assert subsets == {("warc", 200), ("crawldiagnostics", 301), ("crawldiagnostics", 304)}
    assert {row["crawl"] for row in rows} == {"solar cells"}


def test_rows_are_sorted_by_surt(export, crawl):
    export()
    table = pq.read_table(crawl / "index" / "crawl=solar cells" / "subset=warc" / "part-00000.parquet")
    keys = table["url_surtkey"].to_pylist()
    assert keys == sorted(keys)
    assert len(keys) == 5


def test_only_chosen_pages_are_in_the_index(export, crawl):
    assert export(min_relevance=0.5).rows == 6
    urls = ds.dataset(crawl / "index", partitioning="hive").to_table()["url"].to_pylist()
    assert HOME not in urls


def test_several_crawls_are_one_table_and_one_is_replaced_alone(export, crawl):
    assert export("solar").rows == export("电池/1").rows == 7
    assert export("solar", min_relevance=1.0).rows == 0
    table = ds.dataset(crawl / "index", partitioning="hive").to_table()
    assert table["crawl"].to_pylist() == ["电池/1"] * 7
    assert not (crawl / "index.part").exists()


def test_an_empty_index_can_be_opened(export, crawl):
    assert export(min_relevance=1.0).rows == 0
    assert ds.dataset(crawl / "index", partitioning="hive").to_table().num_rows == 0


def test_a_folder_with_other_files_is_left_alone(export, crawl):
    notes = crawl / "index" / "crawl=solar cells" / "notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("mine")
    with pytest.raises(ExportError, match=r"notes\.txt"):
        export()
    assert notes.read_text() == "mine"


def test_every_language_that_is_recognised_has_a_code():
    assert set(ISO_639_3) >= RECOGNISED
    assert {len(code) for code in ISO_639_3.values()} == {3}


QUERIES = {
    # count-by-partition.sql
    "SELECT crawl, subset, count(*) AS captures FROM {table} GROUP BY crawl, subset ORDER BY subset": [
        ("solar cells", "crawldiagnostics", 2),
        ("solar cells", "warc", 5),
    ],
    # count-by-tld-page-host-domain.sql
    "SELECT url_host_tld AS tld, count(*) AS pages, count(DISTINCT url_host_name) AS hosts, "
    "count(DISTINCT url_host_registered_domain) AS domains FROM {table} {where} GROUP BY url_host_tld ORDER BY tld": [
        ("com", 2, 1, 1),
        ("io", 1, 1, 1),
        ("uk", 2, 1, 1),
    ],
    # count-fetch-status.sql
    "SELECT fetch_status, count(*) AS count FROM {table} WHERE crawl = 'solar cells' AND subset = 'crawldiagnostics' "
    "GROUP BY fetch_status ORDER BY fetch_status": [(301, 1), (304, 1)],
    # count-domains-of-tld.sql
    "SELECT url_host_registered_domain, count(*) AS count FROM {table} {where} AND url_host_tld = 'uk' "
    "GROUP BY url_host_registered_domain HAVING (count(*) >= 2)": [("example.co.uk", 2)],
    # compare-mime-type-http-vs-detected.sql
    "SELECT content_mime_type, content_mime_detected, count(*) AS pages FROM {table} {where} "
    "GROUP BY content_mime_type, content_mime_detected ORDER BY pages DESC, 1": [
        ("text/html", None, 3),
        ("application/pdf", None, 1),
        (None, None, 1),
    ],
    # get-records-of-mime-type.sql
    "SELECT url, content_mime_type FROM {table} {where} AND (content_mime_detected = 'application/pdf' "
    "OR content_mime_type LIKE '%pdf%') LIMIT 1000": [(PDF, "application/pdf")],
    # get-records-for-language.sql
    "SELECT url FROM {table} WHERE (crawl = 'solar cells' OR crawl = 'another') AND subset = 'warc' "
    "AND content_languages = 'deu'": [(HOME,)],
    # count-language-tld.sql
    "SELECT content_languages, url_host_tld, count(*) AS pages FROM {table} {where} "
    "AND NOT content_languages LIKE '%,%' GROUP BY content_languages, url_host_tld HAVING count(*) >= 1 ORDER BY 1": [
        ("deu", "io", 1),
        ("eng", "com", 1),
        ("eng", "uk", 1),
        ("zho", "uk", 1),
    ],
    # average-warc-record-length-by-mime-type.sql
    "SELECT content_mime_detected, count(*) * 100.0 / sum(count(*)) OVER () AS share, "
    "sum(warc_record_length) * 100.0 / sum(sum(warc_record_length)) OVER () AS storage "
    "FROM {table} {where} GROUP BY content_mime_detected": [(None, 100.0, 100.0)],
}
"""Queries as cc-index-table publishes them under the named files: the same columns, functions and clauses."""


@pytest.mark.parametrize(("query", "expected"), QUERIES.items())
def test_published_queries_run_in_duckdb(export, crawl, query, expected):
    duckdb = pytest.importorskip("duckdb")
    export()
    with duckdb.connect() as db:
        db.sql("CREATE SCHEMA ccindex")
        files = f"{crawl}/index/*/*/*.parquet"
        db.sql(f"CREATE VIEW ccindex.ccindex AS SELECT * FROM read_parquet('{files}', hive_partitioning = true)")
        where = "WHERE crawl = 'solar cells' AND subset = 'warc'"
        found = db.sql(query.format(table='"ccindex"."ccindex"', where=where)).fetchall()
    assert sorted(found, key=str) == sorted(expected, key=str)


def test_the_records_of_a_domain_can_be_read_with_fastwarc(export, crawl):
    """get-records-of-domain.sql, and what its users do next."""
    duckdb, fastwarc = pytest.importorskip("duckdb"), pytest.importorskip("fastwarc.warc")
    export()
    places = duckdb.sql(
        "SELECT url, warc_filename, warc_record_offset, warc_record_length "
        f"FROM read_parquet('{crawl}/index/*/*/*.parquet', hive_partitioning = true) "
        "WHERE crawl = 'solar cells' AND subset = 'warc' AND url_host_registered_domain = 'example.co.uk' LIMIT 1000"
    ).fetchall()
    assert len(places) == 2
    for url, name, offset, length in places:
        with (crawl / name).open("rb") as file:
            file.seek(offset)
            record = next(iter(fastwarc.ArchiveIterator(io.BytesIO(file.read(length)))))
        assert record.headers["WARC-Target-URI"] == url
