import pytest

from thresher.errors import ConfigError
from thresher.frontier.tiered.storage import FolderStorage, open_storage


@pytest.mark.parametrize("address", ["{}", "file://{}"])
def test_an_object_is_stored_listed_and_deleted(tmp_path, address):
    storage = open_storage(address.format(tmp_path))
    storage.put("crawl/0/one", b"1")
    storage.put("crawl/1/two", b"2")
    assert storage.get("crawl/0/one") == b"1"
    assert list(storage.list("crawl/0/")) == ["crawl/0/one"]
    storage.delete("crawl/0/one")
    storage.delete("crawl/0/one")
    assert list(storage.list("crawl/")) == ["crawl/1/two"]
    with pytest.raises(FileNotFoundError):
        storage.get("crawl/0/one")


def test_an_unfinished_object_is_not_listed(tmp_path):
    storage = FolderStorage(tmp_path)
    storage.put("crawl/0/one", b"1")
    (tmp_path / "crawl/0/.two.17.part").write_bytes(b"half")
    assert list(storage.list("crawl/")) == ["crawl/0/one"]


def test_another_kind_of_address_is_refused():
    with pytest.raises(ConfigError, match="neither a folder nor"):
        open_storage("s3://bucket/cold")
