"""A crawl's definition goes through the store whole, and what a stranger put there is refused."""

import json

import pytest

from thresher.config.folder import CrawlFolder
from thresher.config.run_options import RunOptions
from thresher.config.schema import CrawlConfig
from thresher.coordination import crawl_definition as module
from thresher.coordination.crawl_definition import Definition, DefinitionStore
from thresher.coordination.keys import key_of
from thresher.errors import ConfigError, StoreError

KEY = key_of("solar", "definition")


@pytest.fixture
def store(connection):
    return DefinitionStore(connection, "solar")


def folder_with(root, **files):
    for name, content in {"topic.yaml": "title: {en: solar}\n", "seeds.txt": "http://a.example/\n", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return CrawlFolder(root)


def read(folder, **changes):
    return Definition.of(folder, CrawlConfig(), RunOptions(**changes))


async def test_what_is_published_is_what_is_fetched_and_written(store, tmp_path):
    folder = folder_with(tmp_path / "a", **{"model/trained/layers.json": "{}", "tokens.tsv": "x"})
    await store.publish(read(folder, strategy="shark", store="redis://:secret@h/0"))
    fetched = await store.fetch()
    fetched.write(CrawlFolder(tmp_path / "b"))
    names = ["topic.yaml", "seeds.txt", "tokens.tsv", "model/trained/layers.json"]
    assert [(tmp_path / "b" / name).read_bytes() for name in names] == [fetched.files[name] for name in names]
    assert fetched.options == RunOptions(strategy="shark")


async def test_a_new_definition_takes_the_place_of_the_old_one(store, connection, tmp_path):
    await store.publish(read(folder_with(tmp_path, **{"seeds.txt": "http://old.example/\n"})))
    await store.publish(read(folder_with(tmp_path, **{"seeds.txt": "http://new.example/\n"})))
    assert (await store.fetch()).files["seeds.txt"] == b"http://new.example/\n"
    assert len(await connection.call("HKEYS", KEY)) == 3  # two files and the manifest


async def test_a_crawl_that_is_not_there_is_missed_by_name(store):
    with pytest.raises(ConfigError, match="no crawl called 'solar'"):
        await store.fetch()


async def test_a_file_that_is_too_large_must_be_there_before(store, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 100)
    folder = folder_with(tmp_path / "a", **{"seeds.txt": "http://a.example/\n" * 10})
    await store.publish(read(folder))
    fetched = await store.fetch()
    assert fetched.too_large == {"seeds.txt": 180}
    with pytest.raises(ConfigError, match="too large for the store; copy it to"):
        fetched.write(CrawlFolder(tmp_path / "b"))
    (tmp_path / "b" / "seeds.txt").write_text("http://a.example/\n" * 10)
    fetched.write(CrawlFolder(tmp_path / "b"))


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"\x80\x04.",
        b"[]",
        b'{"form": 99}',
        b'{"form": 1, "files": []}',
        b'{"form": 1, "files": {"../x": "d"}}',
        b'{"form": 1, "files": {"pages/w1.db": "d"}}',
        b'{"form": 1, "files": {"topic.yaml": "not there"}}',
        b'{"form": 1, "files": {}, "too_large": {"/etc/passwd": 1}}',
    ],
)
async def test_a_manifest_that_is_not_ours_is_refused(store, connection, manifest):
    await connection.call("HSET", KEY, "manifest", manifest)
    with pytest.raises((StoreError, ConfigError)):
        await store.fetch()


async def test_a_file_that_was_changed_is_refused(store, connection, tmp_path):
    await store.publish(read(folder_with(tmp_path)))
    digest = json.loads(await connection.call("HGET", KEY, "manifest"))["files"]["seeds.txt"]
    await connection.call("HSET", KEY, digest, b"http://evil.example/\n")
    with pytest.raises(StoreError, match=r"seeds\.txt of 'solar' in the store is damaged"):
        await store.fetch()


async def test_more_than_a_crawl_can_need_is_not_taken(store, connection, tmp_path, monkeypatch):
    await store.publish(read(folder_with(tmp_path, **{"seeds.txt": "http://a.example/\n" * 10})))
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 100)
    with pytest.raises(StoreError, match="too much to take"):
        await store.fetch()


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "b" / "seeds").symlink_to(tmp_path / "outside")
    with pytest.raises(StoreError, match="leads out"):
        Definition(files={"seeds/x.txt": b"x"}).write(CrawlFolder(tmp_path / "b"))
    assert not list((tmp_path / "outside").iterdir())


async def test_another_crawl_of_the_same_name_is_not_written_over(store, tmp_path):
    await store.publish(read(folder_with(tmp_path / "a")), mark="aaaaaa")
    other = folder_with(tmp_path / "b", **{"topic.yaml": "title: {en: opera}\n"})
    with pytest.raises(ConfigError, match="begun from another folder"):
        await store.publish(read(other), mark="bbbbbb")
    await store.publish(read(folder_with(tmp_path / "c")), mark="cccccc")  # the same topic: it moved to another machine
