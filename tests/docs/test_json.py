"""With --json a command prints one document with the keys that the reference lists; `check_json` compares them."""

import json
import shutil

import pytest

from testing.command_tree import all_commands, check_json
from tests.docs.world import WEB
from tests.e2e.conftest import CommandLine
from tests.unit.cli.test_commands import WITHOUT_JSON
from thresher_lab.simulation.topic_splits import split

TOPIC = split(WEB, "dev")[0]
PLAN = (
    "--web",
    WEB,
    "--topics",
    TOPIC,
    "--strategies",
    "best-first",
    "--seeds",
    "1",
    "--pages",
    "20",
    "--workers",
    "1",
)
CASES = {
    "batch": ("links", "solar", "-o", "links.parquet"),
    "changes": ("solar", "--since", "2000-01-01"),
    "doctor": (),
    "export": ("solar", "-f", "csv", "-o", "pages.csv"),
    "frontier": ("solar",),
    "hosts": ("solar",),
    "judges": (),
    "lab compare": (*PLAN, "-o", "rows.jsonl"),
    "lab overview": ("rows.jsonl",),
    "lab report": ("rows.jsonl", "-o", "report.html"),
    "lab reproduce": ("E1", "--report", "-o", "rows"),
    "lab run": ("--web", WEB, "--topic", TOPIC, "--strategy", "shark", "--pages", "20"),
    "lab webs": (),
    "label": ("solar", "--forget", "SEED"),
    "identity new": ("--key", "identity.pem"),
    "identity publish": ("https://crawler.example.org", "-o", "site", "--key", "identity.pem"),
    "identity show": ("--key", "identity.pem"),
    "new": ("wind", "--topic", "wind", "--seed", "https://example.org/", "--contact", "me@example.org"),
    "plan": ("--pages", "1e6", "--hosts", "1e3", "--delay", "1"),
    "run": ("solar", "--pages", "1"),
    "search": ("solar", "perovskite"),
    "seeds": ("--into", "solar", "--source", "searxng=SEARCH", "--candidates", "2"),
    "status": ("solar",),
    "strategies": (),
    "topics find": ("music",),
    "topics import": ("structure.rdf.u8.gz", "content.rdf.u8.gz", "-o", "odp.taxonomy"),
    "topics show": ("Arts/Music",),
    "topics tokens": ("solar", "--least", "0"),
    "topics tree": ("--depth", "1"),
    "try": ("solar", "SEED"),
    "verify": ("solar",),
    "why": ("solar", "SEED"),
}
ELSEWHERE = {
    "train": "tests/e2e/test_collect.py",
    "pull": "tests/e2e/test_shared_collection.py",
    "lab train": "tests/unit/lab",
    "stop": "needs a run; tests/e2e",
    "watch": "tests/e2e/test_watch.py",
    "join": "the code of run",
}
"""Commands whose --json other tests call; `check_json` runs there too."""


@pytest.fixture(scope="module")
def folder(world, tmp_path_factory):
    """A copy of the prepared folder, for commands that write."""
    folder = tmp_path_factory.mktemp("json")
    shutil.copytree(world.prepared, folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "wind")
    (folder / "rows").mkdir()
    return folder


@pytest.mark.parametrize("name", CASES)
def test_the_result_is_one_document_with_the_documented_keys(world, folder, name, monkeypatch):
    monkeypatch.setenv("THRESHER_WEBS", str(folder / "webs"))
    monkeypatch.setenv("THRESHER_CACHE", str(folder / "cache"))
    values = {"SEED": world.seed, "searxng=SEARCH": f"searxng={world.search}"}
    words = (*name.split(), *(values.get(word, word) for word in CASES[name]), "--json")
    done = CommandLine(folder)(*words)
    assert done.stdout, done.stderr
    json.loads(done.stdout)


def test_every_command_with_json_is_called_with_it():
    assert {*CASES, *ELSEWHERE} == set(all_commands()) - set(WITHOUT_JSON)


@pytest.mark.parametrize(
    "printed", ['{"crawl": "solar"}', '{"crawl": "solar", "ended": true, "more": 1}', '[{"crawl": "", "ended": true}]']
)
def test_a_missing_and_an_undocumented_key_are_found(printed):
    with pytest.raises(AssertionError):
        check_json(["stop", "solar", "--json"], printed)
