"""Training data is gathered from the given sources, within its limit, and the model and its quality are reported."""

import json

import pytest

from tests.unit.lab.webs.importers.test_crawl import record
from tests.unit.papers.strategies.layers.small_source import SmallSource
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError, CrawlBusy
from thresher.monitoring.failures import FailureReport
from thresher.seeding.searxng import SearchResult
from thresher.storage.page_store import PageStoreWriter
from thresher.topics.taxonomy.taxonomy import UnknownNode
from thresher_papers.strategies.layers.model import LayerModel
from thresher_papers.strategies.layers.source import ELSEWHERE
from thresher_papers.strategies.rules.table import RuleTable
from thresher_papers.training.collect import CollectRequest, SearchBackLinks, collect

SOURCE = SmallSource()
TOPIC = """\
title: {en: solar cells}
seeds: [http://a.example/]
strategy: {name: layers}
politeness: {contact: me@example.org}
"""
CLASSES = {"Energy/Solar": range(10), "Lists/Hubs": range(10, 20), "News/Fronts": range(20, 30), "Tea": range(30, 40)}


def url(page):
    return f"http://a.example/{page}"


def urls(pages):
    return list(map(url, pages))


def stored(page, *, relevant=False, text=True):
    links = [url(target) for target, _ in SOURCE.links(page) if target != ELSEWHERE]
    return record(url(page), relevant=relevant, text=SOURCE.text(page) if text else "", links=links)


def write(folder, records):
    writer = PageStoreWriter(folder / "pages" / "w1.db")
    writer.write(list(records))
    writer.close()


class Web:
    """The forty pages; what is asked for is stored as a fetcher would do it."""

    def __init__(self):
        self.asked = []

    def __call__(self, crawl, folder, wanted):
        new = [each for each in wanted if each not in self.asked]
        self.asked += new
        write(folder.root, [stored(int(each.rpartition("/")[2])) for each in new])
        return FailureReport()


class Links:
    """All links of the forty pages."""

    def linking_to(self, wanted):
        numbers = {each: int(each.rpartition("/")[2]) for each in wanted}
        return {each: urls(SOURCE.graph.predecessors(number).tolist()) for each, number in numbers.items()}


@pytest.fixture
def web():
    return Web()


@pytest.fixture
def make(tmp_path):
    def make(name="solar", more="", pages=(), relevant=(), with_text=range(40)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "topic.yaml").write_text(TOPIC + more)
        if pages:
            write(folder, [stored(page, relevant=page in relevant, text=page in with_text) for page in pages])
        return CrawlSetup.open(folder)

    return make


def layers(**more):
    return CollectRequest(**{"strategy": "layers", "layers": 2, "random_state": 1, **more})


def rules(**more):
    examples = {label: urls(pages) for label, pages in CLASSES.items()}
    return CollectRequest(**{"strategy": "rules", "examples": examples, "targets": ["Energy/Solar"], **more})


def stages(model):
    return {stage.name: (stage.found, stage.requested, stage.pages) for stage in model.stages}


def test_targets_and_two_layers_of_back_links_are_fetched(make, web):
    crawl = make()
    model = collect(crawl, layers(examples={"": urls(range(10))}, back_links=[Links()]), fetch=web)
    assert set(web.asked) == set(urls(range(30)))
    assert stages(model) == {"targets": (10, 10, 10), "layer 1": (10, 10, 10), "layer 2": (10, 10, 10)}
    assert [layer.pages for layer in model.layers] == [10, 10, 10, 0]
    assert (model.quality.pages, model.class_label) == (30, "layer")
    assert LayerModel.load(crawl.folder.model / "trained").N == 2


def test_the_report_is_stored_beside_the_pages(make, web):
    crawl = make()
    model = collect(crawl, layers(examples={"": urls(range(10))}, back_links=[Links()]), fetch=web)
    report = json.loads((crawl.folder.root / "training" / "report.json").read_text())
    assert report == json.loads(json.dumps(model.as_json()))
    assert report["quality"]["pages"] == 30


def test_no_more_than_the_wanted_number_of_urls_is_asked_for(make, web):
    collect(make(), layers(examples={"": urls(range(10))}, back_links=[Links()], pages=20), fetch=web)
    assert len(web.asked) <= 20


def test_the_same_request_asks_for_the_same_urls(make, web):
    again = Web()
    request = layers(examples={"": urls(range(10))}, back_links=[Links()], pages=18)
    for name, fetch in (("one", web), ("two", again)):
        collect(make(name), request, fetch=fetch)
    assert web.asked == again.asked


def test_what_was_fetched_before_a_crash_is_not_fetched_again(make, web):
    crawl, request = make(), layers(examples={"": urls(range(10))}, back_links=[Links()])

    def crashing(crawl, folder, wanted):
        if len(web.asked) >= 10:
            raise KeyboardInterrupt
        return web(crawl, folder, wanted)

    with pytest.raises(KeyboardInterrupt):
        collect(crawl, request, fetch=crashing)
    assert len(web.asked) == 10
    model = collect(crawl, request, fetch=web)
    assert len(web.asked) == len(set(web.asked)) == 30
    assert stages(model)["targets"] == (10, 10, 10)


def test_an_earlier_crawl_needs_nothing_to_be_fetched(make, web):
    earlier = make("earlier", pages=range(40), relevant=range(10))
    model = collect(make(), layers(earlier=[earlier], pages=0), fetch=web)
    assert web.asked == []
    assert [layer.pages for layer in model.layers] == [10, 10, 10, 0]


def test_pages_of_which_only_the_title_was_kept_are_fetched(make, web):
    earlier = make("earlier", pages=range(40), relevant=range(10), with_text=range(10))
    collect(make(), layers(earlier=[earlier]), fetch=web)
    assert set(web.asked) == set(urls(range(10, 30)))


def test_without_targets_the_user_learns_what_to_give(make, web):
    with pytest.raises(ConfigError, match=r"--examples FILE.*--from DIR.*thresher run .*solar --strategy best-first"):
        collect(make(), layers(), fetch=web)


def test_without_back_links_the_user_learns_which_sources_there_are(make, web):
    with pytest.raises(ConfigError, match=r"hardly any page links .*--links, --search, --from"):
        collect(make(), layers(examples={"": urls(range(10))}), fetch=web)


def test_a_running_crawl_is_left_alone(make, web):
    crawl = make()
    with crawl.folder.only_one_run(), pytest.raises(CrawlBusy):
        collect(crawl, layers(examples={"": urls(range(10))}), fetch=web)


def test_foreign_hosts_need_a_contact(make, web, tmp_path):
    crawl = make()
    crawl.folder.topic.write_text(TOPIC.partition("politeness")[0])
    with pytest.raises(ConfigError, match=r"politeness.contact is empty; sites like a\.example"):
        collect(CrawlSetup.open(crawl.folder.root), layers(examples={"": urls(range(10))}), fetch=web)
    assert web.asked == []


def test_rules_fetch_examples_and_the_pages_that_they_link_to(make, web):
    crawl = make()
    examples = {label: urls(pages) for label, pages in CLASSES.items() if label != "Tea"}
    model = collect(crawl, rules(examples=examples | {"Tea": urls(range(30, 35))}), fetch=web)
    assert set(web.asked) == set(urls(range(40)))
    assert stages(model)["example pages"] == (35, 35, 35)
    assert model.table.rules()["Lists/Hubs"] == {"Energy/Solar": 1.0}
    assert (model.class_label, model.quality.accuracy) == ("class", 1.0)
    assert RuleTable.load(crawl.folder.model / "trained").targets == {"Energy/Solar"}


def test_half_of_the_limit_is_for_examples_of_all_classes(make, web):
    with pytest.raises(ConfigError, match="too few"):
        collect(make(), rules(pages=16), fetch=web)
    kinds = [int(each.rpartition("/")[2]) // 10 for each in web.asked[:8]]
    assert sorted(kinds) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert len(web.asked) <= 16


def test_only_chosen_classes_are_fetched(make, web):
    collect(make(), rules(classes=["Lists", "News/Fronts"], pages=60), fetch=web)
    model = json.loads((make("other").folder.root.parent / "solar" / "training" / "report.json").read_text())
    assert [row["class"] for row in model["quality"]["classes"]] == ["Energy/Solar", "Lists/Hubs", "News/Fronts"]


def test_topics_of_earlier_crawls_are_classes(make, web):
    titles = {"solar-power": range(10), "hubs": range(10, 20), "fronts": range(20, 30)}
    earlier = [make(name, pages=range(40), relevant=pages) for name, pages in titles.items()]
    request = CollectRequest(strategy="rules", earlier=earlier, targets=["solar-power"], pages=0)
    model = collect(make(), request, fetch=web)
    assert model.table.rules()["hubs"] == {"solar-power": 1.0}


def test_classes_are_nodes_of_the_crawls_taxonomy(make, web):
    crawl = make(more="taxonomy: {file: bundled, nodes: [Sports/Basketball]}\n")
    with pytest.raises(UnknownNode, match="no node 'Energy/Solar'"):
        collect(crawl, rules(targets=()), fetch=web)


def test_nodes_of_the_bundled_taxonomy_are_the_wanted_classes(make, web):
    crawl = make(more="taxonomy: {file: bundled, nodes: [Sports/Basketball]}\n")
    names = dict(zip(["Sports/Basketball", "Sports/Football", "Arts/Music"], CLASSES.values(), strict=False))
    examples = {label: urls(pages) for label, pages in names.items()}
    model = collect(crawl, rules(examples=examples, targets=()), fetch=web)
    assert model.table.targets == {"Sports/Basketball"}


def test_the_bundled_taxonomy_has_no_example_pages_to_learn_rules_from(make, web):
    crawl = make(more="taxonomy: {file: bundled, nodes: [Sports/Basketball]}\n")
    with pytest.raises(ConfigError, match="the bundled taxonomy has words, but no example pages"):
        collect(crawl, rules(examples={}, targets=()), fetch=web)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"examples": {}}, "example pages of 0 classes. Name example pages of several classes"),
        ({"examples": {"": [url(1)]}}, "is listed without one"),
        ({"targets": ["Sports"]}, "--target Sports: no example page is of this class; .* Energy/Solar"),
        ({"targets": ()}, "which class is wanted"),
    ],
)
def test_what_rules_lack_is_named(make, web, more, words):
    with pytest.raises(ConfigError, match=words):
        collect(make(), rules(**more), fetch=web)


class Engine:
    """A search engine with one answer."""

    def __init__(self):
        self.queries = []

    def search(self, query):
        self.queries.append(query)
        return [SearchResult(url=url(20))]


def test_each_query_is_sent_once_even_after_a_crash(tmp_path):
    engine, path = Engine(), tmp_path / "training" / "searches.jsonl"
    found = SearchBackLinks(engine, 'link:"{url}"', path).linking_to([url(1), url(2)])
    assert found == {url(1): [url(20)], url(2): [url(20)]}
    with path.open("a") as file:
        file.write('\n{"query": "cut')
    again = SearchBackLinks(engine, 'link:"{url}"', path)
    assert again.linking_to([url(1), url(3)]) == {url(1): [url(20)], url(3): [url(20)]}
    assert SearchBackLinks(engine, 'link:"{url}"', path).linking_to([url(3)]) == {url(3): [url(20)]}
    assert engine.queries == [f'link:"{url(n)}"' for n in (1, 2, 3)]


def test_queries_are_limited_over_all_runs(tmp_path):
    engine = Engine()
    for wanted in (range(3), range(6)):
        SearchBackLinks(engine, "{url}", tmp_path / "searches.jsonl", most=4).linking_to(urls(wanted))
    assert len(engine.queries) == 4


def test_a_query_must_name_the_page(tmp_path):
    with pytest.raises(ConfigError, match=r"must contain \{url\}"):
        SearchBackLinks(Engine(), "link:", tmp_path / "searches.jsonl")
