import sys

import pytest

from thresher.errors import ConfigError, StoreUnreachable
from thresher.objects.base import FolderObjects, open_objects


@pytest.mark.parametrize("address", ["{}", "file://{}"])
def test_a_folder_needs_no_other_package(tmp_path, address, monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)  # as if it were not installed
    objects = open_objects(address.format(tmp_path / "a folder"))
    assert objects.put_new("crawl/0/one", b"1")
    assert objects.get("crawl/0/one") == b"1"
    assert objects.url == (tmp_path / "a folder").as_uri()


def test_a_bucket_names_the_package_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "thresher.objects.bucket", None)
    with pytest.raises(ConfigError, match=r"s3:// needs another package.*\[collection\]"):
        open_objects("s3://bucket/prefix")


@pytest.mark.parametrize(
    ("address", "extra"), [("/", "parquet"), ("file:///a", "parquet"), ("s3://bucket/prefix", "collection")]
)
def test_what_is_stored_needs_pyarrow(monkeypatch, address, extra):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = rf"a collection or a cold storage needs pyarrow: pip install \"thresher-crawler\[{extra}\]\""
    with pytest.raises(ConfigError, match=message):
        open_objects(address)


def test_an_unfinished_object_is_not_listed(tmp_path):
    objects = FolderObjects(tmp_path)
    objects.put_new("crawl/0/one", b"1")
    (tmp_path / "crawl/0/.two.part").write_bytes(b"half")
    assert objects.sizes("crawl") == {"crawl/0/one": 1}


def test_a_folder_that_is_not_mounted_has_not_lost_its_objects(tmp_path):
    with pytest.raises(StoreUnreachable, match="is no folder"):
        FolderObjects(tmp_path / "absent").get("crawl/0/one")


def test_a_folder_that_held_objects_is_not_created_anew(tmp_path):
    objects = FolderObjects(tmp_path / "absent", used=(tmp_path / "absent").as_uri())
    for use in (lambda: objects.put_new("one", b"1"), lambda: objects.sizes(""), lambda: objects.size("one")):
        with pytest.raises(StoreUnreachable, match="is no folder; mount its disk"):
            use()
    assert not (tmp_path / "absent").exists()
