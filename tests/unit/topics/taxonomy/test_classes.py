"""RULES flattens a tree from the bottom up until every leaf has enough URLs."""

from tests.unit.topics.taxonomy.small_taxonomy import from_counts
from thresher.topics.taxonomy.classes import classes


def sizes(counts, **options):
    with from_counts(counts) as taxonomy:
        return {path: len(texts) for path, texts in classes(taxonomy, **options).items()}


def test_a_leaf_with_few_urls_joins_its_parent():
    assert sizes({"A/B": 2, "A": 1}, least=3) == {"A": 3}


def test_a_leaf_with_just_enough_urls_is_a_class():
    assert sizes({"A/B": 3}, least=3) == {"A/B": 3}


def test_joining_is_repeated_up_the_tree():
    assert sizes({"A/B/C/D": 1, "A/B/E": 1, "A/F": 1}, least=3) == {"A": 3}


def test_urls_left_at_an_inner_node_are_dropped():
    assert sizes({"A": 50, "A/B": 4, "A/C": 2}, least=3) == {"A/B": 4}


def test_a_branch_that_is_too_small_is_no_class():
    assert sizes({"A/B": 1, "C": 5}, least=3) == {"C": 5}


def test_a_parent_whose_children_have_all_gone_may_join_its_own():
    assert sizes({"A/B/C": 1, "A/B/D": 1, "A/E": 3}, least=3) == {"A/E": 3}


def test_the_papers_figure_is_150_and_150_are_drawn():
    assert sizes({"A": 149, "B": 150, "C": 400}) == {"B": 150, "C": 150}


def test_a_class_has_titles_and_descriptions():
    with from_counts({"A/B": 2}) as taxonomy:
        assert classes(taxonomy, least=1) == {"A/B": ["A/B 0", "A/B 1"]}


def test_the_same_number_draws_the_same_pages_and_another_draws_others():
    with from_counts({"A": 100}) as taxonomy:
        first, again, other = (classes(taxonomy, least=1, most=10, random_state=seed)["A"] for seed in (1, 1, 2))
    assert first == again
    assert first != other
