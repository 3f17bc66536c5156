"""The contract of a book of labels, in a folder and in a store."""

import asyncio

import pytest

from thresher.fleet.labels import StoreLabels
from thresher.labels import FolderLabels, Label, last_words, verdicts

A, B = "http://a.example/", "http://b.example/"


class ListLink:
    """A store that knows lists."""

    def __init__(self):
        self.lists = {}

    async def call(self, name, key, *values):
        kept = self.lists.setdefault(key, [])
        if name == "RPUSH":
            kept.extend(value.encode() for value in values)
        return kept[values[0] :] if name == "LRANGE" else len(kept)

    async def close(self):
        pass


def label(url, relevant, at=1.0):
    return Label(url=url, relevant=relevant, at=at)


@pytest.fixture(params=["folder", "store"])
def book(request, tmp_path):
    return FolderLabels(tmp_path / "labels.jsonl") if request.param == "folder" else StoreLabels(ListLink(), "solar")


async def test_a_new_book_is_empty(book):
    assert await book.read() == ([], 0)


async def test_whoever_reads_on_gets_what_is_new(book):
    assert await book.say([label(A, True)]) == 1
    assert await book.say([label(B, False), label(A, None)]) == 3
    assert await book.read() == ([label(A, True), label(B, False), label(A, None)], 3)
    assert await book.read(1) == ([label(B, False), label(A, None)], 3)
    assert await book.read(3) == ([], 3)
    await book.close()


async def test_nothing_is_said_by_saying_nothing(book):
    assert await book.say([]) == 0


def test_the_last_word_counts():
    labels = [label(A, True), label(B, True), label(A, None), label(B, False)]
    assert last_words(labels) == {A: None, B: False}
    assert verdicts(labels) == {B: False}


async def test_a_line_that_a_crash_cut_off_is_passed_over(tmp_path):
    path = tmp_path / "labels.jsonl"
    book = FolderLabels(path)
    await book.say([label(A, True)])
    with path.open("ab") as file:
        file.write(b'{"url": "http://c')
    assert await book.read() == ([label(A, True)], 1)
    assert await book.say([label(B, False)]) == 3
    assert await book.read() == ([label(A, True), label(B, False)], 3)


async def test_many_may_write_at_once(tmp_path):
    books = [FolderLabels(tmp_path / "labels.jsonl") for _ in range(8)]
    await asyncio.gather(*(book.say([label(f"{A}{number}", True)]) for number, book in enumerate(books)))
    labels, count = await books[0].read()
    assert count == len({each.url for each in labels}) == 8


@pytest.mark.parametrize("line", ["", "{", "[]", '{"url": 1, "relevant": true, "at": 1}', '{"url": "x", "at": 1}'])
def test_a_line_that_holds_no_label_is_none(line):
    assert Label.read(line) is None
