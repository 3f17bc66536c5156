"""The contract of a book of labels, in a folder and in a store."""

import asyncio

import pytest

from thresher.coordination.shared_labels import SharedLabelStore
from thresher.feedback.labels import FolderLabelStore, Label, latest_labels, verdicts

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
def label_store(request, tmp_path):
    return (
        FolderLabelStore(tmp_path / "labels.jsonl")
        if request.param == "folder"
        else SharedLabelStore(ListLink(), "solar")
    )


async def test_a_new_book_is_empty(label_store):
    assert await label_store.read() == ([], 0)


async def test_a_reader_that_reads_on_gets_what_is_new(label_store):
    assert await label_store.append([label(A, True)]) == 1
    assert await label_store.append([label(B, False), label(A, None)]) == 3
    assert await label_store.read() == ([label(A, True), label(B, False), label(A, None)], 3)
    assert await label_store.read(1) == ([label(B, False), label(A, None)], 3)
    assert await label_store.read(3) == ([], 3)
    await label_store.close()


async def test_no_labels_add_nothing(label_store):
    assert await label_store.append([]) == 0


def test_the_last_word_counts():
    labels = [label(A, True), label(B, True), label(A, None), label(B, False)]
    assert latest_labels(labels) == {A: None, B: False}
    assert verdicts(labels) == {B: False}


async def test_a_line_that_a_crash_cut_off_is_passed_over(tmp_path):
    path = tmp_path / "labels.jsonl"
    label_store = FolderLabelStore(path)
    await label_store.append([label(A, True)])
    with path.open("ab") as file:
        file.write(b'{"url": "http://c')
    assert await label_store.read() == ([label(A, True)], 1)
    assert await label_store.append([label(B, False)]) == 3
    assert await label_store.read() == ([label(A, True), label(B, False)], 3)


async def test_many_may_write_at_once(tmp_path):
    books = [FolderLabelStore(tmp_path / "labels.jsonl") for _ in range(8)]
    await asyncio.gather(
        *(label_store.append([label(f"{A}{number}", True)]) for number, label_store in enumerate(books))
    )
    labels, count = await books[0].read()
    assert count == len({each.url for each in labels}) == 8


@pytest.mark.parametrize("line", ["", "{", "[]", '{"url": 1, "relevant": true, "at": 1}', '{"url": "x", "at": 1}'])
def test_a_line_that_holds_no_label_is_none(line):
    assert Label.read(line) is None
