"""The rows of what a crawl leaves behind and passes on: losses, object storage, webhooks, agents, keys, documents."""

from __future__ import annotations

from tests.faults.entry import Entry

STORAGE_ROWS = [
    Entry(
        "V1",
        "50 losses, one at a time: rows, segments, texts, URLs, hosts and leases of files and stores, runs of cold "
        "URLs, objects and manifests of collections, WARC files and indexes; deleted, cut, overwritten, swapped",
        "verify names it; after verify --repair and run every page is there and verify is clean, or it says what is "
        "lost; no finding where nothing was done",
        "tests.faults.planted:v1",
        "tests/faults/test_planted.py",
    ),
    Entry(
        "O1",
        "kill -9 of runs while they upload to a folder and to S3, 6 times each",
        "every page is in the collection after the next run; verify is clean",
        "tests.faults.storage:o1",
        "tests/faults/test_storage.py",
    ),
    Entry(
        "O2",
        "the storage of a collection is absent, cut off, 40 s slow, refuses (403) or fails (500) during a run",
        "the run ends in time and with an exit code that says so; the next one uploads everything",
        "tests.faults.storage:o2",
        "tests/faults/test_storage.py",
    ),
    Entry(
        "O3",
        "a crawl folder is restored from an older backup; a folder and its copy both go on",
        "every page of each is in the collection; verify is clean",
        "tests.faults.storage:o3",
        "tests/faults/test_storage.py",
    ),
    Entry(
        "T1",
        "kill -9 of runs while they move URLs to the cold storage, 6 times",
        "no URL lost; verify is clean",
        "tests.faults.storage:t1",
        "tests/faults/test_storage.py",
    ),
    Entry(
        "T2",
        "the cold storage is away for 5 s during a run; two thirds of its files are deleted or cut",
        "the run goes on; after verify --repair and run every page is there",
        "tests.faults.storage:t2",
        "tests/faults/test_storage.py",
    ),
    Entry(
        "W1",
        "receivers of webhooks that answer nonsense, hang, redirect, refuse, in 12 ways",
        "every digest is taken once and in order when the receiver is back; another receiver does not wait",
        "tests.faults.hooks:w1",
        "tests/faults/test_hooks.py",
    ),
    Entry(
        "M1",
        "orders to agents in everything that a page can set, in 10 forms, some of which look like addresses",
        "every one stands between the markers of its MCP result",
        "tests.faults.agents:m1",
        "tests/faults/test_agents.py",
    ),
    Entry(
        "M2",
        "a proxy in the environment; endpoints of models that redirect, or send the key back in errors and answers",
        "the key goes to the endpoint only, and stands in no file and no output",
        "tests.faults.agents:m2",
        "tests/faults/test_agents.py",
    ),
    Entry(
        "H15",
        "DOCX files with bombs, deep and wide markup, entities, endless attributes; 40 documents damaged at random",
        "2 s of processor time and 188 MiB each; the next document is read",
        "tests.faults.documents:h15",
        "tests/faults/test_documents.py",
    ),
]
