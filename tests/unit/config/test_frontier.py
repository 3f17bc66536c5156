import pytest
from pydantic import ValidationError

from thresher.config.frontier import FrontierConfig


@pytest.mark.parametrize(
    ("cold", "collection", "storage"),
    [
        ("", "", ""),
        ("", "s3://bucket/crawl", "s3://bucket/crawl/frontier"),
        ("", "file:///data/", "file:///data/frontier"),
        ("off", "s3://bucket/crawl", ""),
        ("/mnt/cold", "s3://bucket/crawl", "/mnt/cold"),
        ("gs://other/cold", "", "gs://other/cold"),
    ],
)
def test_cold_urls_are_in_the_collection_unless_another_storage_is_named(cold, collection, storage):
    assert FrontierConfig(cold=cold).with_cold_in(collection).cold == storage


@pytest.mark.parametrize("cold", ["cold", "ftp://server/cold", "s3://user:secret@bucket/cold"])
def test_a_storage_that_not_all_machines_can_open_is_refused(cold):
    with pytest.raises(ValidationError):
        FrontierConfig(cold=cold)
