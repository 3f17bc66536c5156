"""Folders of Markdown and datasets: complete, repeatable, and opened by the tools that they are for."""

import json
from contextlib import closing

import pyarrow.parquet as pq
import pytest
import yaml

from tests.unit.storage.test_collection import page
from thresher.errors import ExportError
from thresher.export import formats
from thresher.export.formats import file_name, write_dataset, write_markdown_folder
from thresher.export.rows import page_columns, page_contents, rows
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader

ENGLISH = "Perovskite cells lose their power when water reaches them. " * 4
LICENSED = f'<html><link rel=license href="https://l.example/by"><h1>Cells</h1><p>{ENGLISH}</p><p>{ENGLISH}</p></html>'
HOSTILE = "a: b\n--- !!python/object # 'x' \"y\" \u202e\x1b[31m\ufffe"


@pytest.fixture
def collection(tmp_path):
    with closing(PageStoreWriter(tmp_path / "pages" / "w1.db")) as writer:
        writer.write(
            [
                page(1, relevance=0.9, title=HOSTILE, text="all words", markup=LICENSED, language="en"),
                page(2, relevance=0.8, title="电话", text="一些文字", language="zh"),
                page(3, relevance=0.1, title="without text"),
            ]
        )
    with PageStoreReader(tmp_path / "pages") as collection:
        yield collection


def test_every_page_with_text_is_a_file_with_front_matter(collection, tmp_path):
    done = write_markdown_folder(page_contents(collection), tmp_path / "out")
    assert (done.pages, done.written, done.removed) == (2, 2, 0)
    index = [json.loads(line) for line in (tmp_path / "out" / "index.jsonl").read_text().splitlines()]
    written = (tmp_path / "out" / index[0]["file"]).read_text()
    _, front, body = written.split("---\n", 2)
    fields = yaml.safe_load(front)
    assert fields["url"] == "http://a.example/1"
    assert fields["license"] == "https://l.example/by"
    assert fields["title"].startswith("a: b --- !!python/object # 'x' \"y\"")
    assert body == f"\n# Cells\n\n{ENGLISH.strip()}\n\n{ENGLISH.strip()}\n"
    assert not list((tmp_path / "out").rglob("*.part"))


def test_a_repeated_export_writes_what_changed_and_removes_what_is_gone(collection, tmp_path):
    out = tmp_path / "out"
    write_markdown_folder(page_contents(collection), out)
    first, second = sorted(out.rglob("*.md"))
    first.write_text("damaged")
    (out / "mine.md").write_text("my own")
    assert write_markdown_folder(page_contents(collection), out).written == 1
    done = write_markdown_folder(page_contents(collection, min_relevance=0.85), out)
    assert (done.pages, done.written, done.removed) == (1, 0, 1)
    assert sorted(out.rglob("*.md")) == [first, out / "mine.md"]
    assert not second.exists()


def test_an_index_that_names_other_files_removes_none(collection, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "precious-0000000000000000.md").write_text("mine")
    (out / "index.jsonl").write_text('{"file": "../precious-0000000000000000.md"}\n{"file": "/etc/passwd"}\n')
    assert write_markdown_folder(page_contents(collection), out).removed == 0
    assert (tmp_path / "precious-0000000000000000.md").exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/", "http://a.example/%2e%2e%2f%2e%2e%2fetc", "http://a.example/con", "http://[::1]:80/x",
        "http://a.example/" + "长" * 300, "http://a.example/a%00b%0ac", "http://a.example/.hidden", "http://a.example/x.html",
    ],
)  # fmt: skip
def test_file_names_are_safe(url):
    folder, _, name = file_name(url, 1).partition("/")
    assert folder.strip(".")
    assert not set(name) & set('/\\:*?"<>|\0\n')
    assert name.endswith("-0000000000000001.md")
    assert not name.startswith(".")
    assert len(name.encode()) < 200


def test_a_folder_that_cannot_be_written_is_an_error_in_words(collection, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="cannot be written"):
        write_markdown_folder(page_contents(collection), tmp_path / "file" / "out")


@pytest.fixture
def folder(collection, tmp_path):
    columns = page_columns(text=True, markdown=True)
    table = rows(collection, text=True, markdown=True)
    counts = write_dataset(table, tmp_path / "set", columns=columns, name="solar | cells", topic="solar cells")
    assert counts.pages == 2
    return tmp_path / "set"


def test_the_dataset_holds_the_pages_with_text(folder):
    table = pq.read_table(folder / "data" / "pages-00000.parquet")
    assert table["url"].to_pylist() == ["http://a.example/1", "http://a.example/2"]
    assert table["markdown"].to_pylist()[0].startswith("# Cells")
    assert table.column_names == list(page_columns(text=True, markdown=True))


def test_the_card_states_what_was_counted(folder):
    _, front, text = (folder / "README.md").read_text().split("---\n", 2)
    head = yaml.safe_load(front)
    assert head["language"] == ["en", "zh"]
    assert head["size_categories"] == ["n<1K"]
    assert "- pages: 2, of which" in text
    assert "hosts: 1\n" in text
    assert "| https://l.example/by | 1 |" in text
    assert "| none stated | 1 |" in text


def test_a_dataset_is_replaced_but_no_other_folder(folder, collection, tmp_path):
    columns = page_columns(text=True, markdown=True)
    table = rows(collection, text=True, markdown=True, min_relevance=0.85)
    assert write_dataset(table, folder, columns=columns, name="n", topic="t").pages == 1
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ExportError, match=r"notes\.txt"):
        write_dataset([], folder, columns=columns, name="n", topic="t")
    assert not folder.with_name("set.part").exists()


@pytest.mark.parametrize("name", ["README.md", "data/pages-00000.parquet"])
def test_a_folder_that_only_looks_like_a_dataset_is_left_alone(collection, tmp_path, name):
    own = tmp_path / "own" / name
    own.parent.mkdir(parents=True)
    own.write_text("# My project")
    with pytest.raises(ExportError, match="name a new folder"):
        write_dataset([], tmp_path / "own", columns=page_columns(text=True, markdown=True), name="n", topic="t")
    assert own.read_text() == "# My project"


def test_a_folder_with_the_name_of_an_unfinished_dataset_is_left_alone(collection, tmp_path):
    own = tmp_path / "set.part" / "notes.txt"
    own.parent.mkdir()
    own.write_text("mine")
    with pytest.raises(ExportError, match=r"notes\.txt"):
        write_dataset([], tmp_path / "set", columns=page_columns(text=True, markdown=True), name="n", topic="t")
    assert own.read_text() == "mine"


@pytest.mark.parametrize("text", ["# my list\n", '{"name": "x"}\n', "[1]\n"])
def test_an_index_that_no_export_wrote_is_left_alone(collection, tmp_path, text):
    (tmp_path / "index.jsonl").write_text(text)
    with pytest.raises(ExportError, match="was not written by an export"):
        write_markdown_folder(page_contents(collection), tmp_path)
    assert (tmp_path / "index.jsonl").read_text() == text


def test_large_datasets_have_several_shards(collection, tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "SHARD_CHARACTERS", 1)
    table = rows(collection, text=True, markdown=True)
    write_dataset(table, tmp_path / "set", columns=page_columns(text=True, markdown=True), name="n", topic="t")
    assert len(list((tmp_path / "set" / "data").glob("*.parquet"))) == 2


def test_an_empty_dataset_can_be_opened(tmp_path):
    write_dataset([], tmp_path / "set", columns=page_columns(text=True, markdown=True), name="n", topic="t")
    assert len(pq.read_table(tmp_path / "set" / "data")) == 0


def test_pandas_opens_a_dataset(folder):
    assert len(pytest.importorskip("pandas").read_parquet(folder / "data")) == 2


def test_duckdb_opens_a_dataset(folder):
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql(f"SELECT count(*) FROM '{folder}/data/*.parquet'").fetchall() == [(2,)]


def test_polars_opens_a_dataset(folder):
    assert len(pytest.importorskip("polars").read_parquet(folder / "data")) == 2


def test_datasets_opens_a_dataset(folder, tmp_path):
    datasets = pytest.importorskip("datasets")
    cache = str(tmp_path / "cache")
    loaded = datasets.load_dataset("parquet", data_files=f"{folder}/data/*.parquet", split="train", cache_dir=cache)
    assert loaded[0]["url"] == "http://a.example/1"
    assert len(datasets.load_dataset(str(folder), split="train", cache_dir=cache)) == 2
