"""Example pages are offered as seeds, but never somebody's own network."""

from tests.unit.topics.taxonomy.small_taxonomy import small_taxonomy
from thresher.topics.seeds import example_seeds
from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.taxonomy.writer import TaxonomyWriter


def test_a_node_and_its_counterpart_take_turns():
    with small_taxonomy() as taxonomy:
        both = example_seeds(taxonomy, ["Sports/Basketball"], languages=["en", "zh"])
        english = example_seeds(taxonomy, ["Sports/Basketball"], languages=["en"])
    assert both == ["http://hoops.example/", "http://lanqiu.example/", "http://nba.example/"]
    assert english == ["http://hoops.example/", "http://nba.example/"]


def test_at_most_ten_and_none_twice():
    writer = TaxonomyWriter()
    for number in range(30):
        writer.add_example("A", f"http://{number // 2}.example/")
    writer.finish()
    with TaxonomyReader(writer.db, "many") as taxonomy:
        assert example_seeds(taxonomy, ["A"], languages=["en"]) == [f"http://{n}.example/" for n in range(5)]


def test_private_addresses_of_a_taxonomy_are_left_out():
    writer = TaxonomyWriter()
    for url in (
        "http://127.0.0.1/",
        "http://localhost/",
        "http://10.0.0.8/",
        "http://printer.local/",
        "http://a.example/",
    ):
        writer.add_example("A", url)
    writer.finish()
    with TaxonomyReader(writer.db, "private") as taxonomy:
        assert example_seeds(taxonomy, ["A"], languages=["en"]) == ["http://a.example/"]
