"""The collection leaves in formats that other tools open, ranked, and harmless to a spreadsheet."""

import csv
import io
import json

import pyarrow.parquet as pq
import pytest

from tests.unit.storage.test_collection import link, page
from tests.unit.text.test_quality import GOOD
from thresher.errors import ExportError
from thresher.export import rows as module
from thresher.export.rows import COLUMNS, QUALITY_COLUMNS, export, harmless, page_columns, page_contents, rows
from thresher.parsing.html import parse
from thresher.parsing.main_content import stored_markup
from thresher.records import UsageSignal
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader


@pytest.fixture
def collection(tmp_path):
    writer = PageStoreWriter(tmp_path / "pages" / "w1.db")
    writer.write([page(1, relevance=0.3, title="Seed", text="some text", links=[link(2, "=cmd()|' /C calc'!A0")])])
    signals = [UsageSignal("robots.txt", "content-signal", "ai-train=no")]
    writer.write([page(2, relevance=0.8, parent=1, title="+86 电话", language="zh", depth=1, signals=signals)])
    writer.close()
    with PageStoreReader(tmp_path / "pages") as collection:
        yield collection


def test_jsonl_has_one_object_per_page_best_first(collection):
    out = io.StringIO()
    assert export(rows(collection), "jsonl", None, out) == 2
    first, second = map(json.loads, out.getvalue().splitlines())
    assert list(first) == list(COLUMNS)
    assert (first["url"], first["parent"], first["anchor"]) == (
        "http://a.example/2",
        "http://a.example/1",
        "=cmd()|' /C calc'!A0",
    )
    assert first["fetched_at"] == "1970-01-01T00:00:02+00:00"
    assert (second["title"], second["parent"]) == ("Seed", "")


def test_usage_signals_are_a_list_in_json_and_json_in_tables(collection, tmp_path):
    expected = {"source": "robots.txt", "statement": "content-signal", "value": "ai-train=no"}
    lines, table = io.StringIO(), io.StringIO()
    export(rows(collection), "jsonl", None, lines)
    export(rows(collection), "csv", None, table)
    export(rows(collection), "parquet", tmp_path / "p.parquet", io.StringIO())
    assert [json.loads(line)["signals"] for line in lines.getvalue().splitlines()] == [[expected], []]
    cells = [row["signals"] for row in csv.DictReader(io.StringIO(table.getvalue()))]
    assert cells == pq.read_table(tmp_path / "p.parquet")["signals"].to_pylist()
    assert [json.loads(cell or "null") for cell in cells] == [[expected], None]


def test_csv_cells_are_no_formulas(collection):
    out = io.StringIO()
    export(rows(collection), "csv", None, out)
    first = next(csv.DictReader(io.StringIO(out.getvalue())))
    assert first["anchor"].startswith("'=cmd")
    assert first["title"] == "'+86 电话"


def test_raw_csv_is_as_it_was(collection):
    out = io.StringIO()
    export(rows(collection), "csv", None, out, raw=True)
    assert next(csv.DictReader(io.StringIO(out.getvalue())))["title"] == "+86 电话"


@pytest.mark.parametrize("cell", ["=1", "+1", "-1", "@a", "＝1", "＋1", "－1", "＠a", "  =1"])
def test_every_start_of_a_formula_is_guarded(cell):
    assert harmless(cell) == f"'{cell}"


@pytest.mark.parametrize("start", ["\t", "\r", "\n"])
def test_a_start_that_a_spreadsheet_skips_is_guarded_and_blanked(start):
    assert harmless(f"{start}=1") == "' =1"
    assert harmless(f"{start}a") == "' a"


def test_no_cell_is_obeyed_by_a_terminal():
    assert harmless("a\x1b]0;b\x07\u202ec") == "a\ufffd]0;b\ufffd\ufffdc"


def test_numbers_are_no_formulas():
    assert harmless(-1) == -1
    assert harmless("a=1") == "a=1"


def test_parquet_holds_the_same_rows_with_types(collection, tmp_path):
    path = tmp_path / "pages.parquet"
    assert export(rows(collection, text=True), "parquet", path, io.StringIO(), columns=page_columns(text=True)) == 2
    table = pq.read_table(path)
    assert table.column_names == [*COLUMNS, "text"]
    assert table["relevance"].to_pylist() == [0.8, 0.3]
    assert table["text"].to_pylist() == ["", "some text"]
    assert not path.with_name("pages.parquet.part").exists()


def test_parquet_needs_a_file(collection):
    with pytest.raises(ExportError, match="name a file"):
        export(rows(collection), "parquet", None, io.StringIO())


def test_pages_below_a_relevance_are_left_out(collection):
    assert [row["url"] for row in rows(collection, min_relevance=0.5)] == ["http://a.example/2"]


def test_exported_text_has_paragraphs_and_no_menus_footers_or_repeated_title(tmp_path):
    sentence = "Cells lose power when water reaches them. " * 4
    body = (
        f"<title>Cells</title><nav><a href=/>Home</a></nav><h1>Cells</h1><p>{sentence}</p><p>{sentence}</p>"
        "<footer>Text is available under a licence.</footer>"
    ).encode()
    parsed = parse("http://a.example/1", body, "text/html")
    writer = PageStoreWriter(tmp_path / "new" / "w1.db")
    writer.write([page(1, title=parsed.title, text=parsed.text, markup=stored_markup(parsed, body))])
    writer.close()
    with PageStoreReader(tmp_path / "new") as collection:
        [row] = rows(collection, text=True, markdown=True)
    assert row["text"] == f"Cells\n\n{sentence.strip()}\n\n{sentence.strip()}"
    assert row["markdown"] == f"# {row['text']}"


def test_a_group_of_rows_is_bounded_by_its_text(monkeypatch):
    monkeypatch.setattr(module, "_CHARACTERS_PER_GROUP", 1000)
    groups = list(module._groups({"text": "x" * 400, "markdown": "y" * 200} for _ in range(10)))
    assert [len(group) for group in groups] == [2, 2, 2, 2, 2]


@pytest.fixture
def of_two_qualities(tmp_path):
    """A page of prose, one with nothing but a list of names, and one without text."""
    menu = "".join(f"<li>Part {name}</li>" for name in range(30))
    writer = PageStoreWriter(tmp_path / "pages" / "w1.db")
    writer.write([page(1, text="x", markup=f"<p>{GOOD}</p>".replace("\n\n", "</p><p>"), language="en")])
    writer.write([page(2, text="x", markup=f"<ul>{menu}</ul>", language="en"), page(3)])
    writer.close()
    with PageStoreReader(tmp_path / "pages") as collection:
        yield collection


def test_quality_is_a_column_with_the_rules_that_failed_and_what_they_measure(of_two_qualities, tmp_path):
    good, menu, none = rows(of_two_qualities, quality=True)
    assert list(good) == list(page_columns(quality=True))
    assert (good["quality"], good["quality_failed"], good["quality_ended_lines"]) == (1.0, "", 1.0)
    assert 90 < good["quality_words"] < 150
    assert menu["quality"] < 0.8
    assert {"gopher-bullets", "gopher-stop-words", "c4-sentences"} <= set(menu["quality_failed"].split())
    assert {none[name] for name in QUALITY_COLUMNS} == {None}
    path, columns = tmp_path / "quality.parquet", page_columns(quality=True)
    export(rows(of_two_qualities, quality=True), "parquet", path, io.StringIO(), columns=columns)
    assert pq.read_table(path)["quality"].to_pylist() == [good["quality"], menu["quality"], None]


def test_pages_below_a_quality_are_left_out_and_so_are_those_without_text(of_two_qualities):
    [row] = rows(of_two_qualities, min_quality=0.9)
    assert (row["url"], list(row)) == ("http://a.example/1", list(COLUMNS))
    assert [record.url for record, _ in page_contents(of_two_qualities, min_quality=0.9)] == ["http://a.example/1"]
    assert len(list(rows(of_two_qualities, min_quality=0.1))) == 2
