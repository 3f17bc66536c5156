"""Objects and entries of a collection that are missing or damaged: the rest is read, and what is lost is reported."""

from contextlib import closing

import pytest

from tests.contract.collection_machines import entry, record, url_of
from tests.contract.test_collection_streams import status_of
from thresher.collection.manifest import MANIFEST_CACHE, ManifestReader, ManifestWriter
from thresher.errors import StoreError


def spoiled(objects, key, content=None):
    """Replace an object by half of it, or by another content."""
    before = objects.get(key)
    objects.delete(key)
    objects.put_new(key, before[: len(before) // 2] if content is None else content)


@pytest.fixture
def uploaded(machines):
    """A machine with five pages in five segments."""
    one, _ = machines
    for number in range(5):
        one.writer.write([record(number)])
        one.uploader.step(everything=True)
    return one


def entry_keys(machine):
    return [key for key in machine.objects.sizes("manifest") if "/files." not in key]


@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("damage", [spoiled, lambda objects, key: spoiled(objects, key, b"[]")])
def test_a_damaged_entry_is_left_out_reported_and_read_when_it_is_back(machines, uploaded, place, damage):
    _, two = machines
    key = entry_keys(uploaded)[place]
    content = uploaded.objects.get(key)
    damage(uploaded.objects, key)
    for _ in range(2):
        found = two.update()
        assert found.lost == [key]
        assert "1 object of the collection missing or damaged" in found.flaws
    assert sorted(two.read()) == sorted(url_of(number) for number in range(5) if number != place)
    assert "missing or damaged entries of the manifest: 1" in status_of(two).words
    spoiled(uploaded.objects, key, content)
    assert two.update().flaws == ""
    assert len(two.read()) == 5


def test_a_missing_entry_between_others_is_reported(machines, uploaded):
    _, two = machines
    key = entry_keys(uploaded)[1]
    uploaded.objects.delete(key)
    assert two.update().lost == [key]
    assert len(two.read()) == 4


def test_an_entry_under_the_key_of_another_is_damaged(machines, uploaded):
    _, two = machines
    first, second, *_ = entry_keys(uploaded)
    spoiled(uploaded.objects, second, uploaded.objects.get(first))
    assert two.update().lost == [second]


def test_rows_of_a_damaged_entry_are_uploaded_again_by_their_machine(machines, uploaded):
    _, two = machines
    spoiled(uploaded.objects, entry_keys(uploaded)[2])
    uploaded.uploader.close()
    again = uploaded.new_uploader()
    assert status_of(uploaded).waiting_rows == 5
    again.step(everything=True)
    again.close()
    assert status_of(uploaded).waiting_rows == 0
    two.update()
    assert len(two.read()) == 5


def test_an_entry_of_a_newer_version_is_refused(objects, tmp_path):
    ManifestWriter(objects).add(entry())
    [key] = objects.sizes("manifest")
    spoiled(objects, key, objects.get(key).replace(b'"form": 2', b'"form": 3'))
    with closing(ManifestReader(tmp_path / MANIFEST_CACHE)) as manifest, pytest.raises(StoreError, match="newer"):
        manifest.update(objects)
