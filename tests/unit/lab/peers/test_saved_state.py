"""What was learned is written every now and then, and taken up again."""

from thresher.modelstate.folder import FolderStateStore
from thresher_lab.peers.saved_state import StateSaver


def test_an_entry_is_read_back(tmp_path):
    read = []
    StateSaver("kind", lambda: b"learned", read.append).save_state()  # without a state store nothing happens
    notes = StateSaver("kind", lambda: b"learned", read.append)
    notes.load_state(FolderStateStore(tmp_path, "one"))
    for _ in range(5):
        notes.page_done()
    StateSaver("kind", lambda: b"", read.append).load_state(FolderStateStore(tmp_path, "one"))
    assert read == [b"learned"]
