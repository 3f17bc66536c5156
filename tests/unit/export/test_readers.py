"""Other people's tools open what is exported; each test runs where its tool is installed."""

import io
from contextlib import closing

import pytest

from tests.unit.storage.test_collection import link, page
from thresher.export.link_graph import LinkGraphExport
from thresher.export.rows import COLUMNS, export, page_columns, rows
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader


@pytest.fixture
def parquet(tmp_path):
    with closing(PageStoreWriter(tmp_path / "pages" / "w1.db")) as writer:
        writer.write([page(1, title="Seed", text="some text", links=[link(2)]), page(2, relevance=0.8, title="电话")])
    path = tmp_path / "pages.parquet"
    with PageStoreReader(tmp_path / "pages") as collection:
        export(rows(collection, text=True), "parquet", path, io.StringIO(), columns=page_columns(text=True))
    return path


def test_pandas_opens_it(parquet):
    table = pytest.importorskip("pandas").read_parquet(parquet)
    assert list(table.columns) == [*COLUMNS, "text"]
    assert str(table["fetched_at"].dtype).startswith("datetime64")


def test_duckdb_opens_it(parquet):
    duckdb = pytest.importorskip("duckdb")
    query = f"SELECT title FROM '{parquet}' WHERE relevance > 0.7 AND fetched_at < '2000-01-01'"
    assert duckdb.sql(query).fetchall() == [("电话",)]


def test_polars_opens_it(parquet):
    table = pytest.importorskip("polars").scan_parquet(parquet).collect()
    assert table["relevance"].to_list() == [0.8, 0.5]


def test_datasets_opens_it(parquet, tmp_path):
    datasets = pytest.importorskip("datasets")
    loaded = datasets.Dataset.from_parquet(str(parquet), cache_dir=str(tmp_path / "cache"))
    assert loaded[0]["title"] == "电话"


def test_networkx_opens_the_graph(tmp_path, parquet):
    networkx = pytest.importorskip("networkx")
    path = tmp_path / "links.graphml"
    with PageStoreReader(tmp_path / "pages") as collection, path.open("w", encoding="utf-8") as out:
        graph = LinkGraphExport(collection)
        graph.write_graphml(out)
        graph.close()
    read = networkx.read_graphml(path)
    assert {attributes["title"] for _, attributes in read.nodes(data=True)} == {"Seed", "电话"}
