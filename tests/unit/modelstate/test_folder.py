"""A state store on disk: entries are replaced whole, and workers read each other's."""

from thresher.modelstate.folder import FolderStateStore


def test_what_is_written_is_read_again(tmp_path):
    FolderStateStore(tmp_path, "w1").write("sample", b"pages")
    assert FolderStateStore(tmp_path, "w1").read("sample") == b"pages"
    assert FolderStateStore(tmp_path, "w2").read("sample") is None


def test_an_entry_is_replaced_and_nothing_is_left_beside_it(tmp_path):
    state_store = FolderStateStore(tmp_path, "w1")
    state_store.write("sample", b"old")
    state_store.write("sample", b"new")
    assert [path.name for path in (tmp_path / "w1").iterdir()] == ["sample"]
    assert state_store.read("sample") == b"new"


def test_others_are_read_once_until_they_write_again(tmp_path):
    one, two = FolderStateStore(tmp_path, "w1"), FolderStateStore(tmp_path, "w2")
    one.write("examples", b"first")
    assert two.read_others("examples") == [b"first"]
    assert two.read_others("examples") == []
    assert one.read_others("examples") == []
    one.write("examples", b"second!")
    assert two.read_others("examples") == [b"second!"]


def test_without_a_name_nothing_is_written_and_the_fullest_entry_is_read(tmp_path):
    FolderStateStore(tmp_path, "w1").write("sample", b"few")
    FolderStateStore(tmp_path, "w2").write("sample", b"many more")
    reader = FolderStateStore(tmp_path)
    reader.write("sample", b"nothing")
    assert reader.read("sample") == b"many more"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w1", "w2"]
    assert len(reader.read_others("sample")) == 2
