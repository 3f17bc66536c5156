"""What a judge wrote down in an earlier format is read as if it had been written today; a newer one is refused."""

import pytest

from tests.release import earlier
from thresher.judges.adaptive.snapshot import FORMAT, LearnerState
from thresher.modelstate.codec import BadArrays, BadEntry, pack_both, unpack_both

BASE = "http://a.example"


@pytest.fixture(params=[earlier.first_notes, earlier.second_notes])
def entry(request):
    return request.param(BASE, "w1", ["/", "/tea"])


def test_pages_terms_seeds_and_labels_of_people_are_all_there(entry):
    notes = LearnerState.read(entry)
    assert (notes.snapshot.kept, notes.snapshot.seen, list(notes.snapshot.urls)) == (1, 2, [f"{BASE}/", f"{BASE}/tea"])
    assert [notes.snapshot.terms_of(place) for place in (0, 1)] == [earlier.TERMS["/"], earlier.TERMS["/tea"]]
    assert (list(notes.seeds), notes.labelled) == ([f"{BASE}/"], {f"{BASE}/tea": False})
    assert notes.given == {f"{BASE}/": 0.8, f"{BASE}/tea": 0.8}


def test_what_is_written_today_has_its_number_and_is_the_same(entry):
    notes = LearnerState.read(entry)
    again = notes.entry()
    assert unpack_both(again)[1]["format"] == FORMAT
    assert LearnerState.read(again).labelled == notes.labelled


def test_an_entry_of_a_newer_version_is_refused_with_words(entry):
    arrays, values = unpack_both(LearnerState.read(entry).entry())
    with pytest.raises(BadEntry, match="a newer Thresher wrote it"):
        LearnerState.read(pack_both(arrays, values | {"format": FORMAT + 1}))


@pytest.mark.parametrize("damaged", [b"PK", b"PK\x03\x04 and nothing more", b"", b"\x78\x01 not squeezed"])
def test_what_is_damaged_is_refused(damaged):
    with pytest.raises((BadArrays, BadEntry)):
        LearnerState.read(damaged)


def test_the_first_format_with_parts_that_do_not_fit_is_refused():
    whole = earlier.first_arrays(BASE, ["/", "/tea"])
    with pytest.raises((ValueError, LookupError)):
        LearnerState.read(earlier.npz(**{**whole, "numbers": whole["numbers"] + 9}))
