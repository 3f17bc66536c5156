"""A taxonomy of a few nodes, for tests."""

from __future__ import annotations

from thresher.topics.taxonomy.taxonomy import TaxonomyReader
from thresher.topics.taxonomy.writer import TaxonomyWriter

CHINESE = "World/Chinese_Simplified"


def small_taxonomy() -> TaxonomyReader:
    """Sports in English and Chinese, linked by language; NBA has no Chinese counterpart."""
    writer = TaxonomyWriter()
    writer.add_label("Sports/Basketball", "en", description="The game of two baskets.")
    writer.add_label(f"{CHINESE}/体育/篮球", "zh", description="两个篮筐的运动。")
    writer.add_node("Sports/Basketball/NBA")
    writer.add_node("Sports/Water_Polo")
    writer.add_node("Sports-like")  # sorts between Sports and Sports/…
    writer.add_link("Sports", "alternate", f"{CHINESE}/体育")
    writer.add_link(f"{CHINESE}/体育/篮球", "alternate", "Sports/Basketball")
    writer.add_example("Sports/Basketball/NBA", "http://nba.example/", "NBA", "The league.")
    writer.add_example("Sports/Basketball", "http://hoops.example/", "Hoops", "")
    writer.add_example("Sports-like", "http://chess.example/", "Chess", "")
    writer.add_example(f"{CHINESE}/体育/篮球", "http://lanqiu.example/", "篮球网", "新闻")
    writer.finish()
    return TaxonomyReader(writer.db, "small")


def from_counts(counts: dict[str, int]) -> TaxonomyReader:
    """Make nodes with the given number of example pages each; a page's title is the node's path."""
    writer = TaxonomyWriter()
    for path, pages in counts.items():
        writer.add_node(path)
        for number in range(pages):
            writer.add_example(path, f"http://{number}.example/{path}", path, str(number))
    writer.finish()
    return TaxonomyReader(writer.db, "counts")
