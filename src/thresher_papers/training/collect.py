"""Collect training data for a crawl, train a strategy's model on it, and measure the model.

    layers, context-graph   targets, the pages that link to them, the pages that link to those, …
    rules                   example pages of classes (train-0), and pages that they link to (train-1)

Pages that earlier crawls have with their text are used as they are; the others are fetched into the folder ``training``
of the crawl and stay there. Which URLs are fetched depends on the sources, the random state and the fetched pages only,
so the same command continues after a crash.

The pages of earlier crawls as training pages.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from thresher.atomic_file import atomic_write
from thresher.config.folder import CrawlFolder
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.linkgraph import LinkGraph
from thresher.monitoring.failures import FailureReport
from thresher.seeding.searxng import SearchSource
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.topics.taxonomy.bundled import BUNDLED
from thresher.topics.taxonomy.classes import MAX_URLS
from thresher.urls.canonical import canonicalize, fingerprint, host_key
from thresher_papers.judges.taxonomy import target_classes
from thresher_papers.judges.trained.learner import require_scikit_learn
from thresher_papers.strategies.layers.context_graphs import LAST_LAYER, MAX_BACK_LINKS, MAX_PAGES
from thresher_papers.strategies.layers.source import ELSEWHERE
from thresher_papers.training.layers import RULED, layer_quality, train_layers
from thresher_papers.training.quality import ModelQuality
from thresher_papers.training.source_files import NO_CLASS, BackLinkSource

if TYPE_CHECKING:
    from thresher_papers.strategies.layers.learn import LayerSummary
    from thresher_papers.strategies.rules.table import RuleTable


class CrawlPages:
    """All pages that some crawls have fetched, numbered by crawl and rank; each URL once.

    A crawl stores the text of relevant pages, and of others only if configured so; for pages without text the title is
    used. Of a URL that several crawls have, the first one with a text counts.
    """

    def __init__(self, *collections: PageStoreReader) -> None:
        found: dict[int, tuple[PageStoreReader, PageRecord, bool]] = {}
        for collection in collections:
            for record in collection.ranked():
                known = found.get(record.fingerprint)
                if known is None or not known[2]:
                    has_text = collection.has_text(record.fingerprint)
                    if known is None or has_text:
                        found[record.fingerprint] = (collection, record, has_text)
        self._pages = list(found.values())
        self._numbers = {page: number for number, page in enumerate(found)}
        self._moved = {start: end for each in reversed(collections) for start, end in each.redirects().items()}

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def relevant(self) -> list[int]:
        return [number for number, (_, record, _) in enumerate(self._pages) if record.relevant]

    @property
    def without_text(self) -> int:
        """Number of pages with nothing but a title."""
        return sum(not has_text for _, _, has_text in self._pages)

    def has_text(self, url: str) -> bool:
        """Return whether the text of a page is known."""
        number = self.number_of(url)
        return number != ELSEWHERE and self._pages[number][2]

    def number_of(self, url: str) -> int:
        """Return the number of the page that a URL leads to, after redirects."""
        canonical = canonicalize(url)
        return self._number(fingerprint(canonical)) if canonical else ELSEWHERE

    def _number(self, page: int) -> int:
        visited = set[int]()
        while page not in self._numbers and page in self._moved and page not in visited:
            visited.add(page)
            page = self._moved[page]
        return self._numbers.get(page, ELSEWHERE)

    def url(self, page: int) -> str:
        return self._pages[page][1].url

    def host(self, page: int) -> str:
        return host_key(self.url(page))

    @cached_property
    def graph(self) -> LinkGraph:
        ends = [(page, target) for page in range(len(self)) for target, _ in self.links(page)]
        return LinkGraph.from_edges(len(self), np.array(ends, dtype=np.int64).reshape(-1, 2))

    def text(self, page: int) -> str:
        """Return the text of a page, or its title without one."""
        collection, record, _ = self._pages[page]
        return collection.text(record.fingerprint) or record.title

    def links(self, page: int) -> Iterator[tuple[int, str]]:
        """Yield the links of a page: the number of the target, and the anchor."""
        collection, record, _ = self._pages[page]
        for link in collection.links(record.fingerprint):
            yield self._number(fingerprint(link.url)), link.anchor

    def link_urls(self, page: int) -> list[str]:
        """Return the URLs that a page links to."""
        collection, record, _ = self._pages[page]
        return [link.url for link in collection.links(record.fingerprint)]


TRAINING, REPORT, SEARCHES = "training", "report.json", "searches.jsonl"
PAGES, QUERIES = 500, 100
"""URLs that are fetched, and queries to a search source, unless others are given."""
MIN_EXAMPLES = 5
"""Example pages, of all classes together."""


class FetchListed(Protocol):
    """Fetches listed URLs into a folder; returns why some of them failed."""

    def __call__(self, crawl: CrawlSetup, folder: CrawlFolder, urls: Sequence[str], /) -> FailureReport: ...


@dataclass(frozen=True, kw_only=True)
class CollectRequest:
    """What to train, and where the training data comes from.

    Args:
        strategy: The strategy to train.
        examples: URLs of example pages by class; those without a class are targets.
        earlier: Earlier crawls, beside the crawl itself.
        back_links: Sources of pages that link to others.
        classes: Use only the classes at or below these, and the wanted ones; all when empty.
        targets: The wanted classes; when empty, the nodes of the crawl.
        pages: Fetch at most this many URLs.
        layers: The last layer.
        walk_steps: Rules: also count the links of a random walk of this length.
        random_state: Seed of every random choice.
    """

    strategy: str
    examples: Mapping[str, Sequence[str]] = field(default_factory=dict)
    earlier: Sequence[CrawlSetup] = ()
    back_links: Sequence[BackLinkSource] = ()
    classes: Sequence[str] = ()
    targets: Sequence[str] = ()
    pages: int = PAGES
    layers: int = LAST_LAYER
    walk_steps: int = 0
    random_state: int = 0


@dataclass(frozen=True, kw_only=True)
class CollectedStage:
    """The data of one layer or of one part of the training set.

    Args:
        name: Its name.
        found: URLs that the sources have for it.
        requested: Those of them that were chosen to be fetched.
        pages: Pages of it that are known now.
    """

    name: str
    found: int
    requested: int
    pages: int


@dataclass(frozen=True, kw_only=True)
class CollectedModel:
    """A trained model and its quality.

    Args:
        model: The folder of the model.
        stages: What was collected.
        failures: Why URLs were not fetched, in this call and before.
        quality: The quality of its classifier of pages.
        layers: A summary of each layer; empty for rules.
        table: The rules; None for layers.
    """

    strategy: str
    model: Path
    stages: Sequence[CollectedStage]
    failures: FailureReport
    quality: ModelQuality
    layers: Sequence[LayerSummary] = ()
    table: RuleTable | None = None

    @property
    def class_label(self) -> str:
        """The word for a class of the classifier."""
        return "class" if self.table else "layer"

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "strategy": self.strategy,
            "folder": str(self.model),
            "collected": [asdict(stage) for stage in self.stages],
            "failures": self.failures.as_json(),
            "quality": self.quality.as_json(),
        }
        if self.table is None:
            return found | {"layers": [asdict(layer) for layer in self.layers]}
        table = self.table
        return found | {"targets": sorted(table.targets), "scores": table.scores(), "rules": table.rules()}


def collect(crawl: CrawlSetup, request: CollectRequest, *, fetch: FetchListed) -> CollectedModel:
    """Collect training data, train a model into the folder of the crawl, and measure it.

    Raises:
        ConfigError: There are no sources, or they give too few pages.
        CrawlBusy: The crawl is running: two at once could ask a host twice within its delay.
    """
    require_scikit_learn(f"strategy {request.strategy}")
    with crawl.folder.only_one_run(), _Collection(crawl, request, fetch) as collection:
        model = _rules(collection) if request.strategy in RULED else _layers(collection)
    with atomic_write(collection.folder.root / REPORT) as path:
        path.write_text(json.dumps(model.as_json(), ensure_ascii=False, indent=1), encoding="utf-8")
    return model


class _Collection:
    """The pages to train on: those of earlier crawls, and those that are fetched."""

    def __init__(self, crawl: CrawlSetup, request: CollectRequest, fetch: FetchListed) -> None:
        self.crawl, self.request = crawl, request
        self.folder = CrawlFolder(crawl.folder.root / TRAINING)
        self.folder.root.mkdir(exist_ok=True)
        self.model = crawl.folder.model / "trained"
        self.stages: list[CollectedStage] = []
        self.failures = FailureReport()
        self.pages_left = request.pages
        self._fetch = fetch
        self._opened = ExitStack()

    def __enter__(self) -> _Collection:
        self.earlier = [self.crawl, *self.request.earlier]
        self._readers = [self._opened.enter_context(PageStoreReader(each.folder.pages)) for each in self.earlier]
        self._known = CrawlPages(*self._readers)
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    @contextmanager
    def pages(self) -> Iterator[CrawlPages]:
        """Open all pages that are known now."""
        with PageStoreReader(self.folder.pages) as fetched:
            yield CrawlPages(*self._readers, fetched)

    def shuffled(self, urls: Iterable[str]) -> list[str]:
        """Return URLs in a random order that depends on them and the random state only."""
        listed = sorted(set(urls))
        Random(self.request.random_state).shuffle(listed)  # noqa: S311 - no secret
        return listed

    def fetch(self, urls: Sequence[str], most: int) -> tuple[list[str], int]:
        """Fetch the first URLs whose text no earlier crawl has.

        Returns:
            All URLs that are known or were chosen, and how many were chosen.
        """
        missing = [url for url in urls if not self._known.has_text(url)]
        chosen = missing[: min(most, self.pages_left)]
        self.pages_left -= len(chosen)
        if chosen:
            self._check_contact(chosen)
            self.failures = self._fetch(self.crawl, self.folder, chosen)
        left_out = set(missing[len(chosen) :])
        return [url for url in urls if url not in left_out], len(chosen)

    def add_stage(self, name: str, found: Sequence[str], requested: int, pages: int) -> None:
        self.stages.append(CollectedStage(name=name, found=len(found), requested=requested, pages=pages))

    def titles_linking_to(self, urls: Iterable[str]) -> Iterator[str]:
        """Yield pages that link to some URLs and of which the earlier crawls have only the title."""
        known = self._known
        for number in sorted({known.number_of(url) for url in urls} - {ELSEWHERE}):
            before = map(known.url, known.graph.predecessors(number).tolist()[:MAX_BACK_LINKS])
            yield from (url for url in before if not known.has_text(url))

    def _check_contact(self, urls: Sequence[str]) -> None:
        scope = self.crawl.scope()
        if scope.own_hosts_only and (outside := [url for url in urls if "contact" in scope.allows(url, 0)]):
            raise ConfigError(
                f"{self.crawl.folder.topic}: politeness.contact is empty; sites like {host_key(outside[0])} must know "
                "whom to write to: a mail or web address"
            )

    def relevant_urls(self, crawls: Sequence[int]) -> Iterator[tuple[str, str]]:
        """Yield the topics of some of the earlier crawls, with the URLs of their relevant pages."""
        for place in crawls:
            crawl, reader = self.earlier[place], self._readers[place]
            for name, topic in crawl.config.all_topics.items():
                label = topic.nodes[0] if len(topic.nodes) == 1 else name or crawl.name
                yield from ((label, record.url) for record in reader.ranked(relevant=True, topic=name))

    def trained(
        self, quality: ModelQuality, *, layers: Sequence[LayerSummary] = (), table: RuleTable | None = None
    ) -> CollectedModel:
        """Return the model that was trained on the collected pages."""
        return CollectedModel(
            strategy=self.request.strategy,
            model=self.model,
            stages=self.stages,
            failures=self.failures,
            quality=quality,
            layers=layers,
            table=table,
        )


def _layers(collection: _Collection) -> CollectedModel:
    request = collection.request
    targets = _targets(collection)
    kept, requested = collection.fetch(targets, request.pages // (request.layers + 1))
    with collection.pages() as pages:
        collection.add_stage("targets", targets, requested, len(_numbers_of(pages, kept)))
    _collect_back_links(collection, kept)
    with collection.pages() as pages:
        numbers = _numbers_of(pages, kept)
        try:
            learned = train_layers(
                pages, numbers, collection.model, N=request.layers, random_state=request.random_state
            )
        except ConfigError as error:
            raise ConfigError(
                f"{error}. Name more targets (--examples) or more sources of pages that link to them (--links, "
                f"--search, --from), or fetch more (--pages); what was fetched is kept{_reasons(collection.failures)}"
            ) from error
        quality = layer_quality(pages, learned, host_of=pages.host, random_state=request.random_state)
    return collection.trained(quality, layers=learned.layers)


def _reasons(failures: FailureReport) -> str:
    return f". Not fetched: {'; '.join(failures.lines())}" if failures.groups else ""


def _targets(collection: _Collection) -> list[str]:
    """Return the URLs of the targets: the given examples, or else the relevant pages of the earlier crawls."""
    examples = collection.request.examples
    if not examples:
        found = [url for _, url in collection.relevant_urls(range(len(collection.earlier)))]
    elif NO_CLASS in examples and len(examples) == 1:
        found = list(examples[NO_CLASS])
    else:
        labels = _wanted(collection, examples)
        found = [url for label in [*labels, NO_CLASS] for url in examples.get(label, ())]
    if not found:
        raise ConfigError(
            f"{collection.crawl.folder.root} has no relevant pages, and no targets are given: pages about the topic, "
            "from which links are followed back. Name them (--examples FILE), or an earlier crawl of the topic "
            f"(--from DIR), or crawl first: thresher run {collection.crawl.folder.root} --strategy best-first"
        )
    return collection.shuffled(found)


def _wanted(collection: _Collection, classes: Collection[str]) -> frozenset[str]:
    """Return which classes are wanted: those of the request, or else the nodes of the crawl."""
    request, labels = collection.request, sorted(set(classes) - {NO_CLASS})
    known = f"the classes with example pages are {', '.join(labels[:20])}{', …' if len(labels) > 20 else ''}"
    if unknown := [label for label in request.targets if label not in labels]:
        raise ConfigError(f"--target {unknown[0]}: no example page is of this class; {known}")
    wanted = request.targets or collection.crawl.targets()
    if not wanted:
        raise ConfigError(f"which class is wanted? Name it with --target; {known}")
    return target_classes(labels, wanted)


def _collect_back_links(collection: _Collection, layer: Sequence[str]) -> None:
    """Fetch pages that link to a layer, layer by layer; a page counts only if it really has such a link."""
    request, seen = collection.request, set(layer)
    for number in range(1, request.layers + 1):
        asked = collection.shuffled(layer)[:MAX_PAGES]
        found = [url for url in _linking_to(collection, asked) if url not in seen]
        share = collection.pages_left // (request.layers + 1 - number)
        _, requested = collection.fetch(collection.shuffled(found), share)
        with collection.pages() as pages:
            numbers = _numbers_of(pages, layer)
            linking = {pages.url(page) for target in numbers for page in pages.graph.predecessors(target).tolist()}
        layer = sorted(linking - seen)
        collection.add_stage(f"layer {number}", found, requested, len(layer))
        seen.update(layer, found)
        if not layer:
            return


def _linking_to(collection: _Collection, urls: Sequence[str]) -> list[str]:
    """Return pages that link to some URLs, by the given sources and by the pages that are known without their text."""
    found: dict[str, None] = {}
    for source in collection.request.back_links:
        for url, linking in source.linking_to(urls).items():
            found.update(dict.fromkeys(each for each in linking[:MAX_BACK_LINKS] if each != url))
    found.update(dict.fromkeys(collection.titles_linking_to(urls)))
    return list(found)


def _numbers_of(pages: CrawlPages, urls: Iterable[str]) -> list[int]:
    """Return the pages of some URLs, as far as they are known."""
    return sorted({pages.number_of(url) for url in urls} - {ELSEWHERE})


def _rules(collection: _Collection) -> CollectedModel:
    from thresher_papers.training.rules import TextWords, classifier_quality, learn_class_rules

    request = collection.request
    urls = _class_urls(collection)
    targets = _wanted(collection, urls)
    texts = {label: own for label, own in _class_texts(collection.crawl).items() if label in urls}
    turns = {label: collection.shuffled(own) for label, own in urls.items()}
    listed = _by_turns(turns.values())
    kept, requested = collection.fetch(listed, -(-request.pages // 2))
    turns = {label: [url for url in own if url in set(kept)] for label, own in turns.items()}
    with collection.pages() as pages:
        collection.add_stage("example pages", listed, requested, len(_numbers_of(pages, kept)))
    _collect_linked(collection, turns)
    with collection.pages() as pages:
        examples = _by_class(pages, turns)
        _check_examples(collection, examples)
        words = TextWords(pages)
        learned = learn_class_rules(
            pages.graph,
            words,
            examples,
            targets=targets,
            more_texts=texts,
            walk_steps=request.walk_steps,
            random_state=request.random_state,
        )
        quality = classifier_quality(
            words, examples, more_texts=texts, host_of=pages.host, random_state=request.random_state
        )
    learned.save(collection.model)
    return collection.trained(quality, table=learned.table)


def _by_turns(lists: Iterable[Sequence[str]]) -> list[str]:
    """Merge lists so that each gives one item in turn; each item once."""
    return list(dict.fromkeys(url for url in chain.from_iterable(zip_longest(*lists)) if url))


def _class_texts(crawl: CrawlSetup) -> Mapping[str, Sequence[str]]:
    has_pages = crawl.config.taxonomy is not None and crawl.config.taxonomy.file != BUNDLED
    return crawl.classes() if has_pages else {}


def _class_urls(collection: _Collection) -> dict[str, list[str]]:
    """Return the URLs of the example pages of each class: of the given files, the taxonomy, and earlier crawls.

    Raises:
        ConfigError: There are fewer than two classes, or a class is not in the taxonomy of the crawl.
    """
    crawl, request = collection.crawl, collection.request
    if NO_CLASS in request.examples:
        raise ConfigError(
            f"rules lead from class to class, and {request.examples[NO_CLASS][0]} is listed without one; write a "
            "class, a tab and a URL per line"
        )
    if taxonomy := crawl.taxonomy():
        with taxonomy:
            for label in request.examples:
                taxonomy.node(label)
    found = {label: list(urls) for label, urls in request.examples.items()}
    if crawl.config.taxonomy is not None and crawl.config.taxonomy.file != BUNDLED:
        for label, urls in crawl.class_urls().items():
            found.setdefault(label, []).extend(urls)
    for label, url in collection.relevant_urls(range(1, len(collection.earlier))):
        found.setdefault(label, []).append(url)
    chosen = {label: collection.shuffled(urls)[:MAX_URLS] for label, urls in _chosen(collection, found).items()}
    if len(chosen) < 2:
        is_bundled = crawl.config.taxonomy is not None and crawl.config.taxonomy.file == BUNDLED
        raise ConfigError(
            f"rules lead from class to class, and there are example pages of {len(chosen)} classes"
            f"{'; the bundled taxonomy has words, but no example pages' if is_bundled else ''}. Name example pages "
            "of several classes: a file (--examples FILE, with a class, a tab and a URL per line), a taxonomy with "
            "example pages (thresher topics import, then thresher new --taxonomy FILE --node PATH), or crawls of "
            "several topics (--from DIR)"
        )
    return chosen


def _chosen(collection: _Collection, urls: Mapping[str, list[str]]) -> Mapping[str, list[str]]:
    """Leave out the classes that are not chosen."""
    if not collection.request.classes:
        return urls
    above = [*collection.request.classes, *_wanted(collection, urls)]
    return {
        label: own
        for label, own in urls.items()
        if any(label == each or label.startswith(f"{each}/") for each in above)
    }


def _collect_linked(collection: _Collection, examples: Mapping[str, Sequence[str]]) -> None:
    """Fetch a random sample of the pages that the examples of each class link to, all classes by turns."""
    with collection.pages() as pages:
        classes = _by_class(pages, examples).values()
        linked = [collection.shuffled(url for page in own for url in pages.link_urls(page)) for own in classes]
    urls = _by_turns(linked)
    kept, requested = collection.fetch(urls, collection.pages_left)
    with collection.pages() as pages:
        collection.add_stage("linked pages", urls, requested, len(_numbers_of(pages, kept)))


def _by_class(pages: CrawlPages, urls: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Return the pages of each class that are known; classes without any are left out."""
    return {label: found for label, own in urls.items() if (found := _numbers_of(pages, own))}


def _check_examples(collection: _Collection, examples: Mapping[str, Collection[int]]) -> None:
    found = sum(map(len, examples.values()))
    if found < MIN_EXAMPLES or len(examples) < 2:
        raise ConfigError(
            f"there are {found} example pages of {len(examples)} classes, too few to learn rules from; fetch more with "
            f"a greater --pages, or name more examples (--examples){_reasons(collection.failures)}"
        )


class SearchBackLinks:
    """A search source as a source of back links: one query per URL.

    Answers are kept in a file, so that no query is repeated. Whether a result really links to the URL is known once it
    is fetched.

    Args:
        search: The search source.
        query: The query, with ``{url}`` in place of the URL.
        path: The file of answers.
        most: How many queries are sent, all calls and earlier runs counted.

    Raises:
        ConfigError: The query has no ``{url}``.
    """

    def __init__(self, search: SearchSource, query: str, path: Path, *, most: int = QUERIES) -> None:
        if "{url}" not in query:
            raise ConfigError(f"--query {query!r} must contain {{url}}, the URL of which back links are sought")
        self._search, self._query, self._path, self._most = search, query, path, most
        self._answers: dict[str, list[str]] = {}
        if path.is_file():
            answers = map(_answer, path.read_text(encoding="utf-8").splitlines())
            self._answers.update(answer for answer in answers if answer)

    def linking_to(self, urls: Collection[str]) -> dict[str, list[str]]:
        return {url: found for url in urls if (found := self._ask(self._query.replace("{url}", url)))}

    def _ask(self, query: str) -> list[str]:
        if query not in self._answers and len(self._answers) < self._most:
            found = [result.url for result in self._search.search(query)]
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"\n{json.dumps({'query': query, 'urls': found})}")  # a line that a crash has cut ends here
            self._answers[query] = found
        return self._answers.get(query, [])


def _answer(line: str) -> tuple[str, list[str]] | None:
    """Return a query and its results; None for a line that a crash has cut."""
    try:
        row = json.loads(line)
        return str(row["query"]), [str(url) for url in row["urls"]]
    except (ValueError, KeyError, TypeError):
        return None
