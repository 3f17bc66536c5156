"""Pairs of characters, those of a whole text at once."""

from hypothesis import given
from hypothesis import strategies as st

from thresher.text.term_ids import count_pairs, find_pairs, spelled

MIXED = st.text(alphabet="海豹港口的了a。 \U00020000", max_size=40)


def test_neighbours_make_pairs_and_a_character_alone_counts_as_one():
    places, pairs = find_pairs("海豹港 a口 b")
    assert spelled(pairs) == ["海豹", "豹港", "口"]
    assert places.tolist() == [0, 1, 5]


def test_function_characters_say_nothing_unless_beside_others():
    assert count_pairs("的 了的 海的") == {"海的": 1}


def test_pairs_are_counted():
    assert count_pairs("海豹。海豹海豹") == {"海豹": 3, "豹海": 1}


def test_rare_characters_beyond_the_first_plane_are_characters():
    assert count_pairs("\U00020000海") == {"\U00020000海": 1}


def test_nothing_has_no_pairs():
    assert count_pairs("") == count_pairs("only words") == {}


@given(MIXED)
def test_every_pair_stands_at_its_reported_place(text):
    places, pairs = find_pairs(text)
    for place, pair in zip(places.tolist(), spelled(pairs), strict=True):
        assert text[place : place + len(pair)] == pair
