"""Crawl folders of earlier versions go on where they stopped, and lose nothing; newer ones are left alone."""

import asyncio
import json
import shutil
import sqlite3
import zlib
from contextlib import closing

import pytest

from tests.e2e.conftest import CommandLine, serving
from tests.release import earlier
from tests.release.earlier import ERAS, LOST, TEXTS, THEN, WAITING, Writer
from thresher.assembly import build_judge
from thresher.crawl import CrawlSetup
from thresher.frontier.sqlite.database import VERSION
from thresher.frontier.sqlite.inspect import SqliteFrontierReader
from thresher.modelstate.codec import pack_both, unpack_both
from thresher.storage.migrations import SCHEMA_VERSION

pytestmark = pytest.mark.filterwarnings("ignore::thresher.config.renamed_keys.RenamedKeyWarning")
"""The topic.yaml of an earlier version has earlier names of keys."""

NEW = {WAITING: "<title>Better</title><p>Perovskite solar cells, stacked.</p>", LOST: f"<p>{earlier.TEA} Again.</p>"}


@pytest.fixture(scope="module")
def site():
    with serving() as site:
        site.pages.update({path: f"<title>{path}</title><p>{text}</p>" for path, text in TEXTS.items()} | NEW)
        yield site


@pytest.fixture(scope="module", params=ERAS)
def era(request):
    return ERAS[request.param]


@pytest.fixture
def old(era, site, tmp_path):
    """A folder as it was written then."""
    Writer(era, tmp_path / "solar", site.url("")).write()
    return tmp_path / "solar"


@pytest.fixture
def thresher(tmp_path):
    return CommandLine(tmp_path)


def version_of(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA user_version").fetchone()[0]


def rows_of(thresher):
    done = thresher("export", "solar", "--text")
    assert done.returncode == 0, done.stderr
    return {row["url"]: row for row in map(json.loads, done.stdout.splitlines())}


@pytest.mark.usefixtures("old")
def test_status_counts_what_was_there(thresher):
    done = thresher("status", "solar", "--json")
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert (status["pages"], status["relevant"], status["done"], status["waiting"] + status["leased"]) == (3, 2, 3, 2)


@pytest.mark.usefixtures("old")
def test_every_page_is_exported_and_explained(thresher, site):
    rows = rows_of(thresher)
    texts = {site.url(path): text[:-1] for path, text in TEXTS.items()}  # the stored main texts lack the last full stop
    assert {url: row["text"].removesuffix(".") for url, row in rows.items()} == texts
    why = thresher("why", "solar", site.url("/good"))
    assert (why.returncode, "Title of /good" in why.stdout, site.url("/") in why.stdout) == (0, True, True)


def test_the_crawl_goes_on_and_fetches_only_what_is_left(old, thresher, site):
    before, asked = rows_of(thresher), len(site.requests)
    done = thresher("run", "solar")
    assert done.returncode == 0, done.stderr
    assert set(site.paths[asked:]) - {"/robots.txt"} == {WAITING, LOST}
    after = rows_of(thresher)
    assert set(after) == {site.url(path) for path in (*TEXTS, WAITING, LOST)}
    for url, row in before.items():
        kept = ("title", "text", "fetched_at", "depth", "language")
        assert {name: after[url][name] for name in kept} == {name: row[name] for name in kept}
    assert version_of(old / "frontier.db") == VERSION
    assert version_of(old / "pages" / "w1.db") == SCHEMA_VERSION


def test_the_judge_remembers_what_it_saw_and_its_labels(era, old, site):
    judge = build_judge(CrawlSetup.open(old))
    if not era.notes:
        assert judge.pages_seen == 0
        return
    side = judge._languages["other"]
    assert judge.remembers(site.url("/good"))
    assert judge.remembers(site.url("/"))
    assert (side.verdict(site.url("/good")), side.verdict(site.url("/tea"))) == (True, False)


def test_the_labels_of_people_stay(era, old, thresher):
    printed = (old / "labels.jsonl").read_bytes() if era.labels else b""
    assert thresher("run", "solar").returncode == 0
    assert ((old / "labels.jsonl").read_bytes() if era.labels else b"") == printed
    labels, _ = asyncio.run(CrawlSetup.open(old).backend.labels().read())
    assert [(label.relevant, label.at) for label in labels] == ([(True, THEN), (False, THEN)] if era.labels else [])


def test_one_who_only_looks_sees_the_queue_and_changes_nothing(era, old):
    async def looked():
        look = SqliteFrontierReader(old / "frontier.db")
        try:
            return (await look.counts()).waiting, [entry.url for entry in await look.peek(5)]
        finally:
            await look.close()

    waiting, best = asyncio.run(looked())
    assert (waiting, len(best)) == (1, 1)
    assert version_of(old / "frontier.db") == era.frontier


def newer_frontier(folder):
    with closing(sqlite3.connect(folder / "frontier.db")) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")


def newer_pages(folder):
    with closing(sqlite3.connect(folder / "pages" / "w1.db")) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def newer_notes(folder):
    path = folder / "model" / "judge" / "w1" / "sample-other"
    arrays, values = unpack_both(path.read_bytes())
    path.write_bytes(pack_both({"pages": arrays["lengths"]}, {"format": 3, "worker": values["worker"]}))


def contents(folder):
    """Return the rows of all stores, and the bytes of all notes; a frontier may have got new columns."""
    rows = {path: rows_in(path) for path in folder.rglob("*.db")}
    return rows | {path: path.read_bytes() for path in (folder / "model").rglob("*") if path.is_file()}


def rows_in(path):
    with closing(sqlite3.connect(path)) as db:
        tables = {"page": "*", "url": "host, url, state, score, age, hops, tries, reason"}
        return [db.execute(f"SELECT {rows} FROM {name}").fetchall() for name, rows in tables.items() if has(db, name)]


def has(db, table):
    return db.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", [table]).fetchone()[0]


@pytest.mark.parametrize("age", [newer_frontier, newer_pages, newer_notes])
def test_a_folder_of_a_newer_version_is_refused_in_words_and_stays_as_it_is(age, site, tmp_path, thresher):
    Writer(ERAS["labels"], tmp_path / "solar", site.url("")).write()
    age(tmp_path / "solar")
    before = contents(tmp_path / "solar")
    done = thresher("run", "solar")
    assert done.returncode == 1
    assert "newer Thresher" in done.stderr
    assert "Traceback" not in done.stderr
    assert contents(tmp_path / "solar") == before


def test_notes_that_nobody_can_read_are_refused_and_can_be_moved_away(site, tmp_path, thresher):
    Writer(ERAS["labels"], tmp_path / "solar", site.url("")).write()
    notes = tmp_path / "solar" / "model" / "judge" / "w1" / "sample-other"
    notes.write_bytes(zlib.compress(b"something else"))
    done = thresher("run", "solar")
    assert (done.returncode, "move it away to start again" in done.stderr) == (1, True)
    shutil.move(notes.parents[1], tmp_path / "aside")
    assert thresher("run", "solar").returncode == 0


def test_a_topic_with_a_key_of_a_newer_version_is_refused_with_its_line(site, tmp_path, thresher):
    Writer(ERAS["labels"], tmp_path / "solar", site.url("")).write()
    with (tmp_path / "solar" / "topic.yaml").open("a") as file:
        file.write("hologram: true\n")
    done = thresher("run", "solar")
    assert (done.returncode, "topic.yaml:8: unknown key hologram" in done.stderr) == (4, True)
