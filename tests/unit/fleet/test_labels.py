"""What people said of pages reaches all machines, through a real store."""

from thresher.fleet.keys import key_of
from thresher.fleet.labels import StoreLabels
from thresher.labels import Label

YES = Label(url="http://a.example/", relevant=True, at=1.0)
BACK = Label(url="http://a.example/", relevant=None, at=2.0)


async def test_what_one_machine_writes_another_reads(link):
    assert await StoreLabels(link, "solar").say([YES, BACK]) == 2
    assert await StoreLabels(link, "solar").read() == ([YES, BACK], 2)
    assert await StoreLabels(link, "solar").read(1) == ([BACK], 2)
    assert await StoreLabels(link, "lunar").read() == ([], 0)


async def test_an_entry_that_is_no_label_is_passed_over(link):
    await link.call("RPUSH", key_of("solar", "labels"), b"\x80", b"{}")
    book = StoreLabels(link, "solar")
    assert await book.say([YES]) == 3
    assert await book.read() == ([YES], 3)
