"""Search segments: built where pages were fetched, searched elsewhere as one index."""

import shutil
from contextlib import closing

import pytest

from tests.unit.search.conftest import World, page
from thresher.collection.streams import ChangeStream
from thresher.records import Judgement, Revision
from thresher.search import search_segments
from thresher.search.index import PARTS
from thresher.search.search_segments import SearchSegment, SearchSegmentBuilder, next_parts

ALL = 1 << 62


class Fleet:
    """Machines that each fetch pages and build search segments, and one that only searches."""

    def __init__(self, root):
        self.root = root
        self.reader = World(root / "reader")
        self.machines = {}

    def keep(self, name, *records):
        if name not in self.machines:
            self.machines[name] = World(self.root / name)
        self.machines[name].keep(*records, worker=name)

    def build(self, name, **how):
        path = self.root / name / "pages" / f"{name}.db"
        with closing(ChangeStream(path)):
            pass
        return SearchSegmentBuilder(self.root / name / "built").build(path, ALL, **{"everything": True, **how})

    def send(self, name):
        """Copy the pages of a machine to the reader, and add the search segments that it lacks."""
        files = {SearchSegment.from_name(path.stem): path for path in self.build(name)}
        source = self.machines[name].writers[name]
        stream = next(iter(files)).stream
        copy = self.root / "reader" / "pages" / "collected" / f"{stream}.db"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.unlink(missing_ok=True)
        source._db.execute("VACUUM INTO ?", [str(copy)])
        for part in self.reader.index.missing_parts(files):
            self.reader.index.add_part(part, files[part])

    def find(self, typed, **how):
        self.reader.writers = {name: world.writers[name] for name, world in self.machines.items()}
        return self.reader.find(typed, **how)

    def close(self):
        for world in (self.reader, *self.machines.values()):
            world.close()


@pytest.fixture
def fleet(tmp_path):
    for name in ("reader", "one", "two"):
        (tmp_path / name / "pages").mkdir(parents=True)
    fleet = Fleet(tmp_path)
    yield fleet
    fleet.close()


def test_pages_of_two_machines_are_found_and_none_is_indexed_again(fleet):
    fleet.keep("one", page("1", "tidal power plants"), page("2", "wind"))
    fleet.keep("two", page("3", "tidal mills"))
    fleet.send("one")
    fleet.send("two")
    assert fleet.reader.index.catch_up() == 0
    assert sorted(fleet.find("tidal")) == ["1", "3"]
    assert fleet.reader.index.pages() == 3


def test_rows_after_a_search_segment_are_indexed_here(fleet):
    fleet.keep("one", page("1", "tidal power"))
    fleet.send("one")
    assert fleet.find("tidal") == ["1"]
    fleet.keep("one", page("2", "tidal mills"))
    fleet.send("one")
    assert sorted(fleet.find("tidal")) == ["1", "2"]
    assert fleet.reader.index.pages() == 2


def test_a_page_fetched_again_elsewhere_is_found_by_its_new_text_only(fleet):
    fleet.keep("one", page("1", "tidal power", at=1.0))
    fleet.keep("two", page("1", "wind power", at=2.0))
    fleet.send("one")
    fleet.send("two")
    assert fleet.find("tidal") == []
    assert fleet.find("wind") == ["1"]
    fleet.keep("one", page("1", "waves", at=3.0))
    fleet.send("one")
    assert fleet.find("wind") == []
    assert fleet.reader.index.pages() == 1


def test_a_revised_judgement_changes_the_order_in_a_search_segment(fleet):
    fleet.keep("one", page("1", "tidal power", relevance=0.9), page("2", "tidal power mills", relevance=0.05))
    fleet.send("one")
    assert fleet.find("tidal power")[0] == "1"
    for name, relevance in {"1": 0.01, "2": 0.8}.items():
        judgement = Judgement(relevance=relevance, relevant=relevance > 0.5)
        fleet.machines["one"].writers["one"].apply_revisions(
            [Revision(url=f"http://a.example/{name}", judgement=judgement)]
        )
    fleet.send("one")
    assert fleet.find("tidal power")[0] == "2"


def test_near_duplicates_of_two_machines_are_one_hit(fleet):
    text = " ".join(f"word{number}" for number in range(60))
    fleet.keep("one", page("1", f"tidal {text}"))
    fleet.keep("two", page("http://b.example/copy", f"tidal {text}"))
    fleet.send("one")
    fleet.send("two")
    assert len(fleet.find("tidal")) == 1


def test_an_anchor_of_one_machine_finds_a_page_of_another(fleet):
    fleet.keep("one", page("1", "nothing", links=[("target", "tidal power")]))
    fleet.keep("two", page("target", "barrages"))
    fleet.send("one")
    fleet.send("two")
    assert fleet.find("tidal") == ["target"]


def test_a_damaged_search_segment_is_ignored_and_its_pages_are_indexed(fleet, tmp_path):
    fleet.keep("one", page("1", "tidal power"))
    fleet.send("one")
    [part] = (tmp_path / "reader" / PARTS).glob("*.db")
    part.write_bytes(b"damaged" * 1000)
    assert fleet.find("tidal") == ["1"]
    assert list((tmp_path / "reader" / PARTS).glob("*.db")) == []


def test_an_index_whose_search_segments_are_deleted_is_rebuilt(fleet, tmp_path):
    fleet.keep("one", page("1", "tidal power"))
    fleet.send("one")
    assert fleet.find("tidal") == ["1"]
    fleet.reader.reopen()
    shutil.rmtree(tmp_path / "reader" / PARTS)
    assert fleet.find("tidal") == ["1"]


def test_a_longer_file_replaces_a_shorter_one_and_a_full_one_stays(fleet, monkeypatch):
    monkeypatch.setattr(search_segments, "MAX_ROWS", 3)
    names = []
    for number in range(1, 6):
        fleet.keep("one", page(str(number), f"tidal {number}"))
        names.append([path.name.split(".")[2] for path in fleet.build("one")])
    assert names == [["1-1"], ["1-2"], ["1-3"], ["1-3", "4-4"], ["1-3", "4-5"]]


def test_rows_that_are_not_uploaded_are_not_indexed(fleet):
    fleet.keep("one", page("1", "tidal"), page("2", "tidal"))
    path = fleet.root / "one" / "pages" / "one.db"
    with closing(ChangeStream(path)) as changes:
        uploaded = changes.read(0, max_rows=1, max_bytes=1).last_version
    built = SearchSegmentBuilder(fleet.root / "one" / "built").build(path, uploaded, everything=True)
    assert [SearchSegment.from_name(path.stem).last for path in built] == [1]


def test_the_longest_parts_that_continue_an_index_are_chosen():
    parts = [SearchSegment("w", *rows) for rows in ((1, 5), (1, 9), (10, 12), (10, 30), (7, 8))]
    assert [(part.first, part.last) for part in next_parts(parts, 0, 20)] == [(1, 9), (10, 12)]
    assert list(next_parts(parts, 5, 20)) == []
