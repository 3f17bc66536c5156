"""A part of an archive: the records of some pages as they were, and what they refer to."""

import io
from contextlib import closing

import pytest

from tests.unit.storage.warc.captures import HTML, answered, archived, url
from thresher.storage.page_set import PageSet
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.storage.warc.reader import Member, walk
from thresher.storage.warc.subset import copy_records


@pytest.fixture
def subset(tmp_path):
    """Archive three pages, the last with the body of the first; return the records of those above a relevance."""
    captures = [answered(1, relevance=0.2), answered(2, relevance=0.5)]
    captures.append(answered(3, relevance=0.9, body=HTML.replace(b"Cells", b"Cells 1")))
    files = archived(tmp_path, *captures)
    with closing(PageStoreWriter(tmp_path / "pages" / "w1.db")) as writer:
        writer.write([record for record, _ in captures])

    def copy(min_relevance):
        out = io.BytesIO()
        with PageStoreReader(tmp_path / "pages") as collection:
            pages = PageSet(collection, collection.ranked(min_relevance=min_relevance))
            number = copy_records(files, out, pages)
            pages.close()
        copied = tmp_path / "subset.warc.gz"
        copied.write_bytes(out.getvalue())
        return number, [member for member in walk(copied) if isinstance(member, Member)]

    return copy


def targets(members, *kinds):
    return [member.headers["warc-target-uri"] for member in members if member.kind in kinds]


def test_all_pages_give_the_whole_archive(subset, tmp_path):
    number, _ = subset(0.0)
    assert number == 3
    whole = b"".join(path.read_bytes() for path in sorted((tmp_path / "warc").glob("*.warc.gz")))
    assert (tmp_path / "subset.warc.gz").read_bytes() == whole


def test_pages_below_a_relevance_stay_behind_with_all_their_records(subset):
    number, members = subset(0.4)
    assert number == 3  # the first is what the last refers to
    assert url(2) in targets(members, "response")
    assert {member.kind for member in members} >= {"warcinfo", "response", "request", "revisit"}


def test_what_a_revisit_refers_to_comes_along(subset):
    number, members = subset(0.8)
    assert number == 2
    assert targets(members, "response") == [url(1)]
    assert targets(members, "revisit") == [url(3)]
