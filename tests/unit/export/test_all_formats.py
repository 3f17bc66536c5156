"""Hosts, links, bulk files and WARC records leave the collection, and nothing of a stranger breaks a format."""

import io
import json
import subprocess
import sys
import textwrap
from contextlib import closing
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

from tests.unit.storage.test_collection import page
from thresher.atomic_file import atomic_write
from thresher.export.formats import index_name, write_bulk
from thresher.export.hosts import HOST_COLUMNS, host_rows
from thresher.export.hubs import hubs
from thresher.export.link_graph import LINK_COLUMNS, LinkGraphExport
from thresher.export.rows import export, rows
from thresher.storage.page_store import UNCHANGED, FoundLink, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint

SEED, HUB, LEAF, OTHER = (
    "http://seed.example/",
    "http://hub.example/list",
    "http://leaf.example/a",
    "http://hub.example/b",
)
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def of(url, *, links=(), parent="", **more):
    found = [FoundLink(url=target, anchor=anchor, score=0.5, parts={}) for target, anchor in links]
    number = fingerprint(parent) if parent else 0
    return page(fingerprint(url), url=url, links=found, parent=number, **{"at": 1, **more})


@pytest.fixture
def collection(tmp_path):
    with closing(PageStoreWriter(tmp_path / "w1.db")) as writer:
        writer.write(
            [
                of(SEED, relevance=0.2, links=[(HUB, "to the hub"), ("http://never.example/", "")]),
                of(HUB, relevance=0.9, parent=SEED, at=2, title="Hub", links=[(LEAF, "<leaf> & \x0b]]>"), (OTHER, "")]),
            ]
        )
    with closing(PageStoreWriter(tmp_path / "w2.db")) as writer:
        writer.write([of(LEAF, relevance=0.8, parent=HUB, at=3, language="zh", text="文字")])
        writer.write([of(OTHER, relevance=0.05, parent=HUB, at=4)])
    with PageStoreReader(tmp_path) as collection:
        yield collection


def test_hosts_come_with_the_evidence_for_them(collection):
    hub, leaf, seed = host_rows(collection, seed_hosts={"seed.example"})
    assert (hub["host"], hub["pages"], hub["relevant"], hub["best_url"], hub["is_new"]) == (
        "hub.example",
        2,
        1,
        HUB,
        True,
    )
    assert (hub["found_on"], hub["anchor"], hub["first_at"]) == (SEED, "to the hub", "1970-01-01T00:00:02+00:00")
    assert (leaf["host"], leaf["languages"]) == ("leaf.example", "zh")
    assert (seed["is_new"], seed["found_on"]) == (False, "")
    assert set(hub) == set(HOST_COLUMNS)


def test_hosts_that_the_user_named_can_be_left_out(collection):
    found = host_rows(collection, seed_hosts={"seed.example"}, new_only=True)
    assert [row["host"] for row in found] == ["hub.example", "leaf.example"]


def test_hosts_fit_every_table(collection, tmp_path):
    for form in ("csv", "jsonl"):
        out = io.StringIO()
        assert export(host_rows(collection), form, None, out, columns=HOST_COLUMNS) == 3
    assert export(host_rows(collection), "parquet", tmp_path / "h.parquet", out, columns=HOST_COLUMNS) == 3
    assert pq.read_table(tmp_path / "h.parquet").column_names == list(HOST_COLUMNS)


def test_links_come_with_the_relevance_at_both_ends(collection, tmp_path):
    with closing(LinkGraphExport(collection)) as graph:
        found = list(graph.rows())
        assert export(graph.rows(), "parquet", tmp_path / "l.parquet", io.StringIO(), columns=LINK_COLUMNS) == 4
    assert [(link["source"], link["target"], link["target_relevance"]) for link in found] == [
        (HUB, LEAF, 0.8),
        (HUB, OTHER, 0.05),
        (SEED, HUB, 0.9),
        (SEED, "http://never.example/", None),
    ]
    assert pq.read_table(tmp_path / "l.parquet")["target_relevance"].to_pylist() == [0.8, 0.05, 0.9, None]


def test_graphml_holds_pages_and_the_links_between_them(collection):
    out = io.StringIO()
    with closing(LinkGraphExport(collection, min_relevance=0.1)) as graph:
        assert graph.write_graphml(out) == 2
    read = ElementTree.fromstring(out.getvalue())
    nodes = {node.get("id"): node.findtext(f"{GRAPHML}data[@key='url']") for node in read.iter(f"{GRAPHML}node")}
    edges = [(nodes[edge.get("source")], nodes[edge.get("target")]) for edge in read.iter(f"{GRAPHML}edge")]
    assert set(nodes.values()) == {SEED, HUB, LEAF}
    assert edges == [(HUB, LEAF), (SEED, HUB)]
    assert "<leaf> & " in [edge.findtext(f"{GRAPHML}data[@key='anchor']")[:9] for edge in read.iter(f"{GRAPHML}edge")]


def test_a_bulk_file_names_each_page_and_then_says_what_is_known(collection):
    out = io.StringIO()
    assert write_bulk(rows(collection, text=True, min_relevance=0.8), out, index="solar") == 2
    first, page_line, second, _ = map(json.loads, out.getvalue().splitlines())
    assert first == {"index": {"_index": "solar", "_id": f"{fingerprint(HUB) & (2**64 - 1):016x}"}}
    assert page_line["url"] == HUB
    assert first["index"]["_id"] != second["index"]["_id"]


@pytest.mark.parametrize(
    ("crawl", "index"), [("Solar Cells", "solar-cells"), ("_a/b*", "a-b-"), ("..", "pages"), ("太阳", "太阳")]
)
def test_a_crawls_name_becomes_one_that_an_index_may_have(crawl, index):
    assert index_name(crawl) == index


def test_pages_say_when_they_were_looked_at_last_and_whether_they_are_gone(tmp_path):
    with closing(PageStoreWriter(tmp_path / "w1.db")) as writer:
        writer.write([of(SEED), of(HUB), of(SEED, at=50, page=False, status=304, reason=UNCHANGED)])
        writer.write([of(HUB, at=60, page=False, status=404)])
    with PageStoreReader(tmp_path) as collection:
        seen = {
            row["url"]: (row["fetched_at"][-14:-6], row["checked_at"][-14:-6], row["gone"]) for row in rows(collection)
        }
    assert seen == {SEED: ("00:00:01", "00:00:50", False), HUB: ("00:00:01", "00:01:00", True)}


def test_only_what_is_new_or_changed_can_be_asked_for(collection):
    assert {row["url"] for row in rows(collection, since=3)} == {LEAF, OTHER}


def test_times_are_times_in_parquet(collection, tmp_path):
    export(rows(collection), "parquet", tmp_path / "p.parquet", io.StringIO())
    assert str(pq.read_table(tmp_path / "p.parquet").schema.field("fetched_at").type) == "timestamp[ms, tz=UTC]"


def test_the_best_hub_leads_to_relevant_pages(collection):
    [hub, seed] = hubs(collection, 5)
    assert (hub.record.url, hub.relevant, hub.hosts) == (HUB, 1, 1)
    assert seed.record.url == SEED
    assert len(hubs(collection, 1)) == 1


def test_many_hosts_are_worth_more_than_many_pages_of_one(tmp_path):
    wide = [f"http://h{number}.example/" for number in range(3)]
    deep = [f"http://h0.example/{number}" for number in range(5)]
    with closing(PageStoreWriter(tmp_path / "w1.db")) as writer:
        writer.write([of(url) for url in {*wide, *deep}])
        writer.write([of("http://a.example/wide", links=[(url, "") for url in wide])])
        writer.write([of("http://b.example/deep", links=[(url, "") for url in deep])])
    with PageStoreReader(tmp_path) as collection:
        assert [hub.record.url for hub in hubs(collection, 2)] == ["http://a.example/wide", "http://b.example/deep"]


def test_a_file_that_could_not_be_finished_leaves_what_was_there(tmp_path):
    path = tmp_path / "pages.csv"
    path.write_text("before")
    with pytest.raises(TypeError), atomic_write(path) as unfinished:
        unfinished.write_text(b"half")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_export_leaves_no_half_file(tmp_path):
    script = textwrap.dedent(f"""
        import itertools, pathlib, sys
        from thresher.export.rows import write_parquet
        def rows():
            for number in itertools.count():
                if number == 20_000:
                    print("under way", flush=True)
                yield {{"host": str(number)}}
        write_parquet(rows(), pathlib.Path({str(tmp_path)!r}) / "hosts.parquet", columns={{"host": "string"}})
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.kill()
    assert [path.name for path in tmp_path.iterdir()] == ["hosts.parquet.part"]
