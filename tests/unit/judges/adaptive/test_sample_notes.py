"""What a worker writes down of its sample comes back as it was; what is no such entry is refused."""

import pytest

from thresher.judges.adaptive.reservoir import Reservoir
from thresher.judges.adaptive.snapshot import MAX_SENT, EntrySizer, LearnerState
from thresher.judges.adaptive.terms import TermVector
from thresher.modelstate.codec import ENTRY_BYTES, BadEntry


def notes(**more):
    sample = Reservoir(10)
    sample.keep("http://a.example/seed", TermVector.of({"sun": 1.0, "moon": 2.0}))
    sample.add("http://a.example/other", TermVector.of({"moon": 1.0}))
    known = {"seeds": ["http://a.example/seed"], "labelled": {"http://a.example/other": False}}
    given = {"http://a.example/seed": 0.5}
    return LearnerState(**{"worker": "w1", "snapshot": sample.snapshot(10), "given": given, **known, **more})


def test_notes_come_back_as_they_were():
    read = LearnerState.read(notes().entry())
    assert (read.worker, list(read.seeds), read.labelled) == ("w1", ["http://a.example/seed"], notes().labelled)
    assert read.given == {"http://a.example/seed": 0.5}
    assert read.snapshot.terms_of(0) == {"sun": 1.0, "moon": 2.0}


def test_more_can_be_written_beside_them():
    read, values = LearnerState.read_with_more(notes().entry(chinese=[False, True]))
    assert read.worker == "w1"
    assert values["chinese"] == [False, True]


@pytest.mark.parametrize("labelled", [{"http://a.example/": 1}, {"http://a.example/": "yes"}])
def test_people_say_yes_or_no_or_take_it_back(labelled):
    with pytest.raises(BadEntry):
        LearnerState.read(notes(labelled=labelled).entry())


def test_the_next_entry_begins_with_a_few_more_pages_than_fitted_before():
    fitting, tried = EntrySizer(), []

    def make(most):
        tried.append(most)
        return bytes(most * (ENTRY_BYTES // 100))

    assert len(fitting.entry(make)) <= ENTRY_BYTES
    fits = tried[-1]
    tried.clear()
    fitting.entry(make)
    assert fits < tried[0] <= fits + fits // 8 + 1 < MAX_SENT
