"""A collection belongs to one crawl, and its storage must create objects without replacing others."""

import shutil

import pytest

from tests.contract.collection_machines import record
from thresher.collection.uploader import CollectionUploader
from thresher.errors import ConfigError


def uploader_of(machine, crawl_id, objects=None):
    return CollectionUploader(
        objects or machine.objects,
        lambda: [machine.pages / "w1.db"],
        folder=machine.collected,
        crawl_id=lambda: crawl_id,
    )


def uploaded(machine, crawl_id, objects=None):
    uploader = uploader_of(machine, crawl_id, objects)
    try:
        return uploader.step(everything=True)
    finally:
        uploader.close()


def test_another_crawl_is_refused_before_it_writes_anything(machines):
    one, two = machines
    one.writer.write([record(1)])
    two.writer.write([record(2)])
    assert uploaded(one, "a" * 16) == 1
    before = one.objects.sizes("")
    with pytest.raises(ConfigError, match="another crawl"):
        uploaded(two, "b" * 16)
    assert one.objects.sizes("") == before


def test_all_machines_of_a_crawl_and_a_collection_without_an_id_are_taken(machines):
    one, two = machines
    one.writer.write([record(1)])
    two.writer.write([record(2)])
    assert one.uploader.step(everything=True) == 1  # as an earlier version did
    for machine, number in ((one, 0), (two, 1), (one, 0)):
        assert uploaded(machine, "a" * 16) == number


class ReplacingObjects:
    """A server that ignores the condition of a put."""

    def __init__(self, objects):
        self._objects = objects

    def put_new(self, key, content):
        self._objects.delete(key)
        return self._objects.put_new(key, content)

    def __getattr__(self, name):
        return getattr(self._objects, name)


def test_a_storage_that_replaces_objects_is_refused_before_a_page_is_uploaded(machines):
    one, _ = machines
    one.writer.write([record(1)])
    for _ in range(2):
        with pytest.raises(ConfigError, match="If-None-Match"):
            uploaded(one, "a" * 16, ReplacingObjects(one.objects))
    assert list(one.objects.sizes("")) == ["crawl.json"]


def test_a_restored_folder_belongs_to_the_same_crawl(machines, tmp_path):
    one, _ = machines
    one.writer.write([record(1)])
    uploaded(one, "a" * 16)
    shutil.rmtree(one.collected)
    one.collected.mkdir()
    assert uploaded(one, "a" * 16) == 0
