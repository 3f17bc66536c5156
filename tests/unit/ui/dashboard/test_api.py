"""The API: what it takes, what it refuses, and what it says of itself."""

import json

import pytest
from starlette.testclient import TestClient

from thresher.config.run_options import RunOptions
from thresher_ui.dashboard.api.description import describe
from thresher_ui.dashboard.api.operations import EVENTS, OPERATIONS
from thresher_ui.dashboard.api.requests import MAX_LABELS
from thresher_ui.dashboard.app import make_app
from thresher_ui.dashboard.guard import Guard, names_of
from thresher_ui.dashboard.service import CrawlService

CRAWL = "/api/crawls/small"


@pytest.fixture
def client(crawl):
    crawl.folder.join(RunOptions())  # it cannot be started, so nobody is dialled
    guard = Guard(names_of("127.0.0.1", 8765))
    app = make_app(CrawlService({"small": crawl}), guard)
    headers = {"Authorization": f"Bearer {guard.token}"}
    with TestClient(app, base_url="http://127.0.0.1:8765", headers=headers) as client:
        yield client


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=501",
        "limit=x",
        "limit=1&limit=2",
        "order=oldest",
        "offset=-1",
        "unknown=1",
        "relevant=perhaps",
    ],
)
def test_parameters_that_cannot_be_meant_are_refused_in_words(client, query):
    response = client.get(f"{CRAWL}/pages?{query}")
    assert response.status_code == 400
    assert query.partition("=")[0] in response.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"do": "start", "argv": ["rm"]}',
        b'{"do": "explode"}',
        b'{"do": "start", "pages": "10"}',
        b'{"do": "start", "pages": 0}',
        b'{"do": "start", "minutes": NaN}',
        b"[" * 60_000,
        b"\xff\xfe",
    ],
)
def test_bodies_that_cannot_be_meant_are_refused(client, body):
    response = client.post(f"{CRAWL}/control", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/json5"])
def test_bodies_must_be_json(client, kind):
    response = client.post(f"{CRAWL}/control", content=b'{"do": "stop"}', headers={"Content-Type": kind})
    assert response.status_code == 415


def test_labels_are_bounded_and_must_name_pages(client):
    many = [{"url": f"http://a.example/{number}", "relevant": True} for number in range(MAX_LABELS + 1)]
    for labels in ([], many, [{"url": "javascript:1", "relevant": True}], [{"url": "http://a.example/"}]):
        assert client.post(f"{CRAWL}/labels", json={"labels": labels}).status_code == 400


def test_a_crawl_that_was_begun_elsewhere_cannot_be_started(client):
    response = client.post(f"{CRAWL}/control", json={"do": "start"})
    assert response.status_code == 409


def test_what_cannot_be_done_now_says_so(client):
    for do in ("pause", "resume", "stop"):
        response = client.post(f"{CRAWL}/control", json={"do": do})
        assert response.status_code == 409
        assert "stopped" in response.json()["error"]
    assert client.put(f"{CRAWL}/budgets", json={"pages": 10}).status_code == 409


def test_a_host_is_blocked_and_released(client):
    assert client.post(f"{CRAWL}/hosts/H2.example/block", json={"reason": "my own"}).status_code == 200
    [parked] = client.get(f"{CRAWL}/hosts?parked=true").json()["hosts"]
    assert (parked["host"], parked["parked"]) == ("h2.example", "blocked by hand: my own")
    assert client.post(f"{CRAWL}/hosts/h2.example/release").status_code == 200
    assert client.get(f"{CRAWL}/hosts?parked=true").json() == {"hosts": []}
    assert client.post(f"{CRAWL}/hosts/h2.example/release").status_code == 400


def test_an_address_that_is_not_there_says_so(client):
    assert client.get("/api/nothing").json() == {"error": "there is nothing here"}
    assert client.get("/api/crawls/other/pages").status_code == 404
    assert client.delete(CRAWL).status_code == 405


def test_the_description_names_every_operation_and_every_crawl(client):
    document = client.get("/api/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    for operation in OPERATIONS:
        assert document["paths"][operation.path][operation.method.lower()]["operationId"] == operation.name
    [crawl] = document["paths"][EVENTS]["get"]["parameters"]
    assert crawl["schema"]["enum"] == ["small"]


def test_the_description_refers_to_nothing_that_it_does_not_hold():
    document = describe()
    names = set(document["components"]["schemas"])
    referred = {part.split('"')[0] for part in json.dumps(document).split("#/components/schemas/")[1:]}
    assert referred <= names
    assert not any(key.startswith("$defs") for key in document)
