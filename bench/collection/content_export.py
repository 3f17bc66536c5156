"""Time and memory of the exports of main content: ``python -m bench.collection.content_export [--pages N]``.

A page store of generated pages with markup (`bench.collection.page_layouts`, ten layouts, English and Chinese) is made
in two segments. Then every export of content is written by the command line in a process of its own, and opened by the
tools that it is for: each must find as many rows as there are pages or chunks. Tools that are not installed are named.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from bench.collection.export import measure
from bench.collection.page_layouts import DEV, TEST, page
from testing.machine import machine
from thresher.records import Outcome
from thresher.storage.page_store import PageRecord, PageStoreWriter
from thresher.urls.canonical import fingerprint

FORMS = {
    "Markdown folder": ("-f", "markdown"),
    "chunks, JSON lines": ("-f", "jsonl", "--chunks"),
    "chunks, Parquet": ("-f", "parquet", "--chunks"),
    "dataset folder": ("-f", "dataset"),
    "Parquet with text": ("-f", "parquet", "--text"),
}
LAYOUTS = (*DEV, *TEST)


def record(number: int) -> PageRecord:
    """Make up a page."""
    url = f"http://h{number % 2000}.example/{number}"
    language = "zh" if number % 2 else "en"
    html, article = page(LAYOUTS[number % len(LAYOUTS)], language, number)
    return PageRecord(
        fingerprint=fingerprint(url),
        url=url,
        status=200,
        outcome=Outcome.DONE,
        fetched_at=1.7e9 + number,
        page=True,
        title=article.title,
        language=language,
        relevance=number * 0.618 % 1,
        relevant=number * 0.618 % 1 > 0.4,
        text_hash=fingerprint(article.text),
        text=" ".join(article.text.split()),
        markup=html,
    )


def make(folder: Path, pages: int) -> int:
    """Write a crawl folder; return the characters of markup."""
    folder.mkdir()
    (folder / "topic.yaml").write_text("title: {en: words}\nseeds: ['http://h0.example/0']\n")
    characters = 0
    for worker in (0, 1):
        records = map(record, range(worker, pages, 2))
        with closing(PageStoreWriter(folder / "pages" / f"w{worker + 1}.db")) as writer:
            for batch in _batches(records):
                writer.write(batch)
                characters += sum(len(each.markup) for each in batch)
    return characters


def _batches(records: Iterator[PageRecord]) -> Iterator[list[PageRecord]]:
    while batch := list(islice(records, 500)):
        yield batch


def openers(path: Path) -> dict[str, Callable[[], int]]:
    """Return for each tool how it opens Parquet files and counts the rows."""
    files = str(path / "data" / "*.parquet" if path.is_dir() else path)

    def with_datasets() -> int:
        from datasets import load_dataset

        with tempfile.TemporaryDirectory() as cache:
            return len(load_dataset("parquet", data_files=files, split="train", cache_dir=cache))

    def with_duckdb() -> int:
        import duckdb

        return int(duckdb.sql(f"SELECT count(text) FROM '{files}'").fetchall()[0][0])

    def with_pandas() -> int:
        import pandas

        return len(pandas.read_parquet(path / "data" if path.is_dir() else path))

    def with_polars() -> int:
        import polars

        return len(polars.read_parquet(files))

    return {"datasets": with_datasets, "duckdb": with_duckdb, "pandas": with_pandas, "polars": with_polars}


def opened(path: Path, form: str) -> str:
    """Return which tools opened an export, and how many rows each of them found."""
    if form == "Markdown folder":
        lines = (path / "index.jsonl").read_text(encoding="utf-8").splitlines()
        return f"{sum((path / json.loads(line)['file']).exists() for line in lines):,} files"
    if "JSON" in form:
        with path.open(encoding="utf-8") as lines:
            return f"{sum(1 for line in lines if json.loads(line)):,} lines"
    found = {name: str(count()) if find_spec(name) else "not installed" for name, count in openers(path).items()}
    return ", ".join(f"{name} {number}" for name, number in found.items())


def bench(pages: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        characters = make(Path(name) / "crawl", pages)
        print(f"{machine()}; {pages:,} pages of {characters / pages / 1000:.1f} thousand characters of markup.\n")
        print("| export | rows | seconds | processor seconds | size, MB | peak MiB |", flush=True)
        print("|---|---|---|---|---|---|", flush=True)
        written: dict[str, Path] = {}
        for number, (form, options) in enumerate(FORMS.items()):
            out = written[form] = Path(name) / f"out{number}{'.parquet' if 'Parquet' in form else ''}"
            sample = measure(Path(name) / "crawl", options, out)
            cells = [sample.printed, f"{sample.seconds:.0f}", f"{sample.cpu_seconds:.0f}"]
            cells += [f"{sample.out_bytes / 1e6:,.0f}", f"{sample.mebibytes:.0f}"]
            print(f"| {form} | {' | '.join(cells)} |", flush=True)
        print()
        for form, out in written.items():  # last: a child process counts the memory of this one at its start
            print(f"{form}: {opened(out, form)}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.collection.content_export", description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    bench(parser.parse_args().pages)
