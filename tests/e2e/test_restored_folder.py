"""A crawl folder that was restored from a backup, or copied, uploads all of its pages to the collection."""

import json
import shutil

import pytest

from tests.e2e.conftest import quick

PAGES = 24


def pages_of(version):
    """Pages in a chain, each with the next two."""
    found = {}
    for number in range(PAGES):
        links = " ".join(f'<a href="/{number + step}">solar cells {number + step}</a>' for step in (1, 2))
        found[f"/{number}"] = f"<title>Solar {number} v{version}</title><p>Solar cells {number}, v{version}.</p>{links}"
    return found


@pytest.fixture
def storage(site, thresher, tmp_path):
    site.pages = pages_of(1)
    assert thresher("new", "solar", "--topic", "solar cells", "--seed", site.url("/0")).returncode == 0
    quick(tmp_path / "solar")
    url = f"file://{tmp_path}/storage"
    assert thresher("run", "solar", "--pages", 6, "--collection", url).returncode == 0
    return url


def titles(thresher, folder):
    exported = thresher("export", folder, "-f", "jsonl")
    assert exported.returncode == 0, exported.stderr
    return sorted(json.loads(line)["title"] for line in exported.stdout.splitlines())


def check_all_is_collected(thresher, storage, *folders):
    for folder in folders:
        status = json.loads(thresher("status", folder, "--json").stdout)["collection"]
        assert status["waiting_rows"] == 0
        checked = thresher("verify", folder)
        assert checked.returncode == 0, checked.stdout
    copied = thresher("pull", storage, "gathered")
    assert copied.returncode == 0, copied.stderr
    return titles(thresher, "gathered")


def test_a_restored_folder_uploads_the_pages_that_it_fetches_again(site, thresher, tmp_path, storage):
    shutil.copytree(tmp_path / "solar", tmp_path / "backup")
    assert thresher("run", "solar", "--pages", 16).returncode == 0
    shutil.rmtree(tmp_path / "solar")
    shutil.copytree(tmp_path / "backup", tmp_path / "solar")
    site.pages = pages_of(2)
    assert thresher("run", "solar", "--pages", 16).returncode == 0
    found = check_all_is_collected(thresher, storage, "solar")
    assert found == titles(thresher, "solar")
    assert sum(title.endswith("v2") for title in found) == 10
    assert len({title.split()[1] for title in found}) == len(found) >= 16  # also what the lost folder had fetched


def test_a_copied_folder_and_its_original_upload_all_their_pages(site, thresher, tmp_path, storage):
    shutil.copytree(tmp_path / "solar", tmp_path / "copy")
    for folder, pages in (("solar", 10), ("copy", 14), ("solar", 18), ("copy", 20)):
        assert thresher("run", folder, "--pages", pages).returncode == 0
    found = check_all_is_collected(thresher, storage, "solar", "copy")
    assert len({*found}) == len(found) == 20


def test_a_gathered_copy_goes_on_with_the_collection_after_a_lost_disk(site, thresher, tmp_path, storage):
    shutil.rmtree(tmp_path / "solar")
    assert thresher("pull", storage, "again").returncode == 0
    assert thresher("run", "again", "--pages", 12, "--collection", storage).returncode == 0
    found = check_all_is_collected(thresher, storage, "again")
    assert len({*found}) == len(found) == 12


def test_another_crawl_cannot_upload_to_the_collection(site, thresher, tmp_path, storage):
    before = sorted(path.name for path in (tmp_path / "storage").rglob("*") if path.is_file())
    assert thresher("new", "other", "--topic", "solar cells", "--seed", site.url("/0")).returncode == 0
    quick(tmp_path / "other")
    ran = thresher("run", "other", "--pages", 3, "--collection", storage)
    assert "collection of another crawl" in ran.stderr
    assert sorted(path.name for path in (tmp_path / "storage").rglob("*") if path.is_file()) == before
