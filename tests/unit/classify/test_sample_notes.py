"""What a worker writes down of its sample comes back as it was; what is no such entry is refused."""

import pytest

from thresher.classify.entries import ENTRY_BYTES, BadEntry
from thresher.classify.rows import Terms
from thresher.classify.sample import Sample
from thresher.classify.sample_notes import MOST_SENT, Fitting, SampleNotes


def notes(**more):
    sample = Sample(10)
    sample.keep("http://a.example/seed", Terms.of({"sun": 1.0, "moon": 2.0}))
    sample.add("http://a.example/other", Terms.of({"moon": 1.0}))
    known = {"seeds": ["http://a.example/seed"], "told": {"http://a.example/other": False}}
    given = {"http://a.example/seed": 0.5}
    return SampleNotes(**{"worker": "w1", "draw": sample.draw(10), "given": given, **known, **more})


def test_notes_come_back_as_they_were():
    read = SampleNotes.read(notes().entry())
    assert (read.worker, list(read.seeds), read.told) == ("w1", ["http://a.example/seed"], notes().told)
    assert read.given == {"http://a.example/seed": 0.5}
    assert read.draw.terms_of(0) == {"sun": 1.0, "moon": 2.0}


def test_more_can_be_written_beside_them():
    read, values = SampleNotes.read_with_more(notes().entry(chinese=[False, True]))
    assert read.worker == "w1"
    assert values["chinese"] == [False, True]


@pytest.mark.parametrize("told", [{"http://a.example/": 1}, {"http://a.example/": "yes"}])
def test_people_say_yes_or_no_or_take_it_back(told):
    with pytest.raises(BadEntry):
        SampleNotes.read(notes(told=told).entry())


def test_the_next_entry_begins_with_a_few_more_pages_than_fitted_before():
    fitting, tried = Fitting(), []

    def make(most):
        tried.append(most)
        return bytes(most * (ENTRY_BYTES // 100))

    assert len(fitting.entry(make)) <= ENTRY_BYTES
    fits = tried[-1]
    tried.clear()
    fitting.entry(make)
    assert fits < tried[0] <= fits + fits // 8 + 1 < MOST_SENT
