"""The labels that people give pages reach all machines, through a real store."""

from thresher.coordination.keys import key_of
from thresher.coordination.shared_labels import SharedLabelStore
from thresher.feedback.labels import Label

YES = Label(url="http://a.example/", relevant=True, at=1.0)
BACK = Label(url="http://a.example/", relevant=None, at=2.0)


async def test_what_one_machine_writes_another_reads(connection):
    assert await SharedLabelStore(connection, "solar").append([YES, BACK]) == 2
    assert await SharedLabelStore(connection, "solar").read() == ([YES, BACK], 2)
    assert await SharedLabelStore(connection, "solar").read(1) == ([BACK], 2)
    assert await SharedLabelStore(connection, "lunar").read() == ([], 0)


async def test_an_entry_that_is_no_label_is_passed_over(connection):
    await connection.call("RPUSH", key_of("solar", "labels"), b"\x80", b"{}")
    label_store = SharedLabelStore(connection, "solar")
    assert await label_store.append([YES]) == 3
    assert await label_store.read() == ([YES], 3)
