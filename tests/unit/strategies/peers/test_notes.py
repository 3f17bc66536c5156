"""What was learned is written every now and then, and taken up again."""

from thresher.classify.notebook import FolderNotebook
from thresher.strategies.peers.notes import Notes


def test_an_entry_is_read_back(tmp_path):
    read = []
    Notes("kind", lambda: b"learned", read.append).write_down()  # without a notebook nothing happens
    notes = Notes("kind", lambda: b"learned", read.append)
    notes.keep_in(FolderNotebook(tmp_path, "one"))
    for _ in range(5):
        notes.page_done()
    Notes("kind", lambda: b"", read.append).keep_in(FolderNotebook(tmp_path, "one"))
    assert read == [b"learned"]
