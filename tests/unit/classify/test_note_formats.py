"""What a judge wrote down in an earlier format is read as if it had been written today; a newer one is refused."""

import pytest

from tests.release import earlier
from thresher.classify.arrays import BadArrays
from thresher.classify.entries import BadEntry, pack_both, unpack_both
from thresher.classify.note_formats import FORMAT
from thresher.classify.sample_notes import SampleNotes

BASE = "http://a.example"


@pytest.fixture(params=[earlier.first_notes, earlier.second_notes])
def entry(request):
    return request.param(BASE, "w1", ["/", "/tea"])


def test_pages_terms_seeds_and_what_people_said_are_all_there(entry):
    notes = SampleNotes.read(entry)
    assert (notes.draw.kept, notes.draw.seen, list(notes.draw.urls)) == (1, 2, [f"{BASE}/", f"{BASE}/tea"])
    assert [notes.draw.terms_of(place) for place in (0, 1)] == [earlier.TERMS["/"], earlier.TERMS["/tea"]]
    assert (list(notes.seeds), notes.told) == ([f"{BASE}/"], {f"{BASE}/tea": False})
    assert notes.given == {f"{BASE}/": 0.8, f"{BASE}/tea": 0.8}


def test_what_is_written_today_has_its_number_and_is_the_same(entry):
    notes = SampleNotes.read(entry)
    again = notes.entry()
    assert unpack_both(again)[1]["format"] == FORMAT
    assert SampleNotes.read(again).told == notes.told


def test_an_entry_of_a_newer_version_is_refused_with_words(entry):
    arrays, values = unpack_both(SampleNotes.read(entry).entry())
    with pytest.raises(BadEntry, match="a newer Thresher wrote it"):
        SampleNotes.read(pack_both(arrays, values | {"format": FORMAT + 1}))


@pytest.mark.parametrize("damaged", [b"PK", b"PK\x03\x04 and nothing more", b"", b"\x78\x01 not squeezed"])
def test_what_is_damaged_is_refused(damaged):
    with pytest.raises((BadArrays, BadEntry)):
        SampleNotes.read(damaged)


def test_the_first_format_with_parts_that_do_not_fit_is_refused():
    whole = earlier.first_arrays(BASE, ["/", "/tea"])
    with pytest.raises((ValueError, LookupError)):
        SampleNotes.read(earlier.npz(**{**whole, "numbers": whole["numbers"] + 9}))
