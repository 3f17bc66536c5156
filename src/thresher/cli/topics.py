"""thresher topics: search, show and import taxonomies; find URL tokens that the token table lacks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import click

from thresher.cli.output import echo, echo_json, echo_table, json_option, wide_option
from thresher.storage.reader import PageStoreReader
from thresher.topics.taxonomy.bundled import BUNDLED_TITLE, bundled_token_table
from thresher.topics.taxonomy.importing import ImportResult, import_taxonomy
from thresher.topics.taxonomy.taxonomy import TaxonomyNode, TaxonomyReader
from thresher.topics.token_table import MIN_COUNT, TokenCounter, TokenTable, unmapped
from thresher.topics.topic import TopicDefinition


@click.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--least",
    type=click.IntRange(min=0),
    default=MIN_COUNT,
    show_default=True,
    help="Tokens seen more often than this.",
)
@click.option("--links", is_flag=True, help="Also count the links that pages added to the frontier.")
@click.option(
    "--table",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A token table of your own, such as tokens.tsv.",
)
@wide_option
@json_option(
    {
        "token": "A word in URLs.",
        "count": "In how many URLs it is, at least.",
        "example": "One of these URLs.",
        "holds": "Spellings of the table inside it, as which it counts already.",
    },
    rows=True,
)
def tokens(source: Path, least: int, links: bool, table: Path | None, as_json: bool) -> None:
    """List frequent words of URLs that the token table lacks, most frequent first.

    SOURCE is a crawl's folder, or a file with a URL on each line. Rows for what you recognise go into a file tokens.tsv
    in the crawl's folder, of the same form as the shipped table.

    \b
    Examples:
      thresher topics tokens solar --least 100
      thresher topics tokens urls.txt --json
    """
    known, labels, urls = (
        _crawl(source, links) if source.is_dir() else (TokenTable.shipped(), [], _lines_of_file(source))
    )
    if table:
        known |= TokenTable.read(table)
    counter = TokenCounter(least=least)
    for url in urls:
        counter.add(url)
    found = unmapped(counter, known, labels=labels)
    off = f"too low by at most {counter.error:,}" if counter.error else "exact"
    echo(f"{len(found):,} tokens in more than {least:,} of {counter.urls:,} URLs; counts are {off}", err=True)
    if as_json:
        echo_json([asdict(each) for each in found])
    else:
        rows = [(each.token, each.count, " ".join(each.holds), each.example) for each in found]
        echo_table(["token", "URLs", "counts already as", "example"], rows)


def _crawl(folder: Path, links: bool) -> tuple[TokenTable, list[str], Iterator[str]]:
    from thresher.crawl import CrawlSetup  # slow to import, and only this command needs it

    crawl = CrawlSetup.open(folder)
    labels = [label for path in crawl.topic().labels for level in path for label in level.values()]
    return TokenTable.for_crawl(folder), labels, _pages(crawl.folder.pages, links)


def _pages(folder: Path, links: bool) -> Iterator[str]:
    with PageStoreReader(folder) as collection:
        for record in collection.ranked(duplicates=True):
            yield record.url
            if links:
                yield from (link.url for link in collection.links(record.fingerprint))


def _lines_of_file(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        yield from (line for line in map(str.strip, lines) if line)


FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
"""The type of the files to import."""

_SUFFIXES = {".taxonomy", ".yaml", ".yml", ".tsv", ".jsonl", ".rdf", ".u8", ".gz", ".zst"}
"""Names with these endings are files, and never words or nodes."""

PROGRESS_SECONDS = 5.0


class TopicsGroup(click.Group):
    """Lists its commands in the order of their definition."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=TopicsGroup)
def topics() -> None:
    """Find and show topics of a taxonomy; import another one.

    FILE is what `thresher topics import` wrote, or a small taxonomy written by hand as YAML. Without FILE, the taxonomy
    that ships with Thresher is used.
    """


@topics.command("import")
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="FILE...")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The taxonomy file to write, such as odp.taxonomy.",
)
@click.option(
    "--complete/--as-it-is",
    default=True,
    show_default=True,
    help="Add missing English or Chinese names from the bundled taxonomy.",
)
@json_option(
    {
        "nodes": "Topics that were written.",
        "examples": "Example pages.",
        "repaired": "Broken characters that were repaired.",
        "skipped": "Entries that were left out.",
        "completed": "Topics that got a name in the other language.",
        "kinds": "The format of each file.",
        "output": "The taxonomy file.",
    },
)
def import_files(files: Sequence[Path], output: Path, complete: bool, as_json: bool) -> None:
    """Read files of topics into one taxonomy.

    They may be ODP's RDF dumps, tables of paths (tab-separated, or JSON objects line by line) or YAML, plain or packed
    with gzip or zstd; the format is detected from the content. A topic with a name in English alone, or in Chinese
    alone, that the bundled taxonomy has too gets the name and the keywords of the other language from there.

    \b
    Examples:
      thresher topics import structure.rdf.u8.gz content.rdf.u8.gz -o odp.taxonomy
      thresher topics import my-topics.yaml -o my.taxonomy
    """
    imported = import_taxonomy(files, output, complete=complete, progress=_Progress())
    if as_json:
        echo_json({**asdict(imported), "output": str(output)})
        return
    for path, kind in imported.kinds.items():
        echo(f"{path}: {kind}", err=True)
    echo(f"{output}: {imported.nodes:,} topics, {imported.examples:,} example pages")
    if complete:
        count = f"{imported.completed:,} of {imported.nodes:,} topics"
        echo(f"{count} completed with the name in the other language, from {BUNDLED_TITLE}.", err=True)
    if imported.repaired or imported.skipped:
        damage = f"{imported.repaired:,} broken characters repaired, {imported.skipped:,} entries left out"
        echo(f"Damage in the files: {damage}.", err=True)
    echo(f"Next: thresher topics find {output} WORDS", err=True)


@topics.command()
@click.argument("words", nargs=-1, required=True, metavar="[FILE] WORDS...")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many topics.")
@wide_option
@json_option(
    {
        "path": "The path of the topic, such as Arts/Music.",
        "labels": "Its names, by language.",
        "urls": "Its own example pages.",
        "urls_below": "Example pages of it and of all topics below.",
        "score": "How well it matches the words.",
    },
    rows=True,
)
def find(words: Sequence[str], limit: int, as_json: bool) -> None:
    """Find topics by the words of their labels and keywords, in any language.

    \b
    Examples:
      thresher topics find 音乐
      thresher topics find odp.taxonomy solar energy --limit 5
    """
    with _open(words) as (taxonomy, rest):
        if not rest:
            raise click.UsageError(f"no words to find in {taxonomy.name}; name some, such as: solar energy")
        found, paged = taxonomy.find(" ".join(rest), limit=limit), taxonomy.size()[1] > 0
    if as_json:
        echo_json([{**_brief(node), "score": score} for node, score in found])
    elif found:
        columns = ["score", "node", "labels", "pages"]
        rows = [(score, node.path, _labels(node), node.urls_below) for node, score in found]
        echo_table(columns, rows) if paged else echo_table(columns[:-1], [row[:-1] for row in rows])
    else:
        echo(f"No topic of {taxonomy.name} has these words; try fewer, or their beginnings.", err=True)
    if not found:
        raise SystemExit(1)


@topics.command()
@click.argument("node", nargs=-1, required=True, metavar="[FILE] NODE")
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="How many example pages.")
@json_option(
    {
        "path": "The path of the topic, such as Arts/Music.",
        "labels": "Its names, by language.",
        "descriptions": "Descriptions, by language.",
        "keywords": "Keywords, by language.",
        "urls": "Its own example pages.",
        "urls_below": "Example pages of it and of all topics below.",
        "vectors": "The words that a crawl looks for, with weights.",
        "spellings": "Spellings in URLs, by level of the path.",
        "alternate": "The same topic in other languages.",
        "related": "Related topics.",
        "children": "The topics below.",
        "examples": "Example pages: url, title, description.",
    },
)
def show(node: Sequence[str], limit: int, as_json: bool) -> None:
    """Show a topic: labels, description, children and words.

    The words and the spellings in URLs are those that a crawl looks for.

    \b
    Examples:
      thresher topics show Arts/Music
      thresher topics show odp.taxonomy Sports/Basketball
    """
    with _open(node) as (taxonomy, rest):
        if len(rest) != 1:
            raise click.UsageError(f"name one topic of {taxonomy.name}, such as Sports/Basketball")
        shown = _shown(taxonomy, taxonomy.node(rest[0]), limit)
    if as_json:
        echo_json(shown)
        return
    for line in _lines(shown):
        echo(line)


@topics.command()
@click.argument("node", nargs=-1, metavar="[FILE] [NODE]")
@click.option("--depth", type=click.IntRange(min=1), default=2, show_default=True, help="How many levels down.")
@json_option(
    {
        "path": "The path of the topic, such as Arts/Music.",
        "labels": "Its names, by language.",
        "urls": "Its own example pages.",
        "urls_below": "Example pages of it and of all topics below.",
        "level": "How many levels below the first one.",
    },
    rows=True,
)
def tree(node: Sequence[str], depth: int, as_json: bool) -> None:
    """List the topics below a node, or below the root, as a tree.

    \b
    Examples:
      thresher topics tree --depth 1
      thresher topics tree Science --json
    """
    with _open(node) as (taxonomy, rest):
        if len(rest) > 1:
            raise click.UsageError(f"name one topic of {taxonomy.name}, not {len(rest)}")
        tops = [taxonomy.node(rest[0])] if rest else taxonomy.children()
        found = [entry for top in tops for entry in _walk(taxonomy, top, 0, depth if rest else depth - 1)]
        paged = taxonomy.size()[1] > 0
    if as_json:
        echo_json([{**_brief(each), "level": level} for level, each in found])
        return
    for level, each in found:
        echo(f"{'  ' * level}{_labels(each)}{f' ({each.urls_below:,})' if paged else ''}")


@contextmanager
def _open(arguments: Sequence[str]) -> Iterator[tuple[TaxonomyReader, Sequence[str]]]:
    """Open the taxonomy whose file is the first argument, or else the bundled one; yield it and the other arguments."""
    first = Path(arguments[0]) if arguments else Path()
    if first.is_file() or first.suffix in _SUFFIXES:
        with TaxonomyReader.open(first) as taxonomy:
            yield taxonomy, arguments[1:]
        return
    with TaxonomyReader.bundled() as taxonomy:
        echo(f"In {BUNDLED_TITLE} of {taxonomy.size()[0]:,} topics; for another one, name its file first.", err=True)
        yield taxonomy, arguments


topics.add_command(tokens)


class _Progress:
    """Prints the progress of an import every few seconds."""

    def __init__(self) -> None:
        self._next = time.monotonic() + PROGRESS_SECONDS

    def __call__(self, so_far: ImportResult) -> None:
        if time.monotonic() >= self._next:
            echo(f"{so_far.nodes:,} topics, {so_far.examples:,} example pages so far", err=True)
            self._next = time.monotonic() + PROGRESS_SECONDS


def _walk(
    taxonomy: TaxonomyReader, node: TaxonomyNode, level: int, levels_left: int
) -> Iterator[tuple[int, TaxonomyNode]]:
    yield level, node
    if levels_left:
        for child in taxonomy.children(node.path):
            yield from _walk(taxonomy, child, level + 1, levels_left - 1)


def _brief(node: TaxonomyNode) -> dict[str, Any]:
    return {"path": node.path, "labels": node.labels, "urls": node.urls, "urls_below": node.urls_below}


def _labels(node: TaxonomyNode) -> str:
    return _joined(node.labels) or node.path


def _joined(labels: Mapping[str, str]) -> str:
    return " · ".join(dict.fromkeys(labels.values()))


def _shown(taxonomy: TaxonomyReader, node: TaxonomyNode, limit: int) -> dict[str, Any]:
    topic = TopicDefinition.from_nodes(taxonomy, [node.path], languages=list(node.labels))
    return {
        **asdict(node),
        "vectors": topic.vectors(),
        "spellings": [
            {"labels": dict(level), "spellings": list(bundled_token_table().spellings(level.values()))}
            for level in topic.labels[0]
        ],
        "alternate": taxonomy.links(node.path, "alternate"),
        "related": [*taxonomy.links(node.path, "related"), *taxonomy.links(node.path, "symbolic")],
        "children": [_brief(child) for child in taxonomy.children(node.path)],
        "examples": [asdict(example) for example in islice(taxonomy.examples(node.path, below=True), limit)],
    }


def _lines(shown: dict[str, Any]) -> Iterator[str]:
    yield shown["path"]
    yield from (f"  {language}: {label}" for language, label in shown["labels"].items())
    yield from (f"  {text}" for text in shown["descriptions"].values())
    if shown["urls_below"]:
        yield f"  {shown['urls']:,} example pages, {shown['urls_below']:,} with all below"
    yield from _section("Keywords", [f"{code}: {', '.join(words)}" for code, words in shown["keywords"].items()])
    yield from _section("Words a crawl looks for", [_vector_line(*each) for each in shown["vectors"].items()])
    spelled = [f"{_joined(level['labels'])}: {', '.join(level['spellings'])}" for level in shown["spellings"]]
    yield from _section("Spellings in URLs", spelled)
    yield from _section("In other languages", shown["alternate"])
    yield from _section("Related", shown["related"])
    children = [f"{child['path'].rpartition('/')[2]}{_pages_below(shown, child)}" for child in shown["children"]]
    yield from _section("Below it", children)
    examples = [f"{page['url']}  {page['title']}  {page['description']}".rstrip() for page in shown["examples"]]
    yield from _section("Example pages", examples)


def _pages_below(node: Mapping[str, Any], child: Mapping[str, Any]) -> str:
    return f" ({child['urls_below']:,})" if node["urls_below"] else ""


def _section(heading: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"{heading}:")
        yield from (f"  {line}" for line in lines)


def _vector_line(name: str, vector: dict[str, float]) -> str:
    weights = sorted(vector.items(), key=lambda item: -item[1])
    return f"{name}: " + ", ".join(f"{term} {weight:.3f}" for term, weight in weights)
