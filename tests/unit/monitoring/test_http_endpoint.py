"""The endpoint of a worker: answers over a real socket, from inside the loop that it tells of."""

import asyncio
import logging
import signal
import subprocess
import sys
import urllib.request
from contextlib import suppress

import pytest

from thresher.monitoring import http_endpoint as endpoint_module
from thresher.monitoring.http_endpoint import Endpoint
from thresher.monitoring.prometheus import WorkerMetrics
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


class Away(MemoryFrontier):
    async def counts(self):
        raise OSError("gone")


@pytest.fixture
async def serve():
    served = []

    async def start(frontier=None, **place):
        endpoint = Endpoint(WorkerMetrics(crawl="solar", worker="w1"), **place)
        endpoint.around(frontier or MemoryFrontier())
        await endpoint.start()
        served.append(endpoint)
        return endpoint

    yield start
    for endpoint in served:
        endpoint.stop()


async def ask(endpoint, request):
    """Return status, head and body; 0 and nothing when the connection was closed without an answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", endpoint.port)
    writer.write(request)
    answer = b""
    with suppress(ConnectionResetError):  # closed before all of the question was read
        answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, head.decode(), body.decode()


def get(path, method="GET"):
    return f"{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


async def test_the_end_of_a_run_is_shown_until_it_was_seen(serve):
    endpoint = await serve()
    await ask(endpoint, get("/metrics"))
    ending = asyncio.create_task(endpoint.show_end())
    await asyncio.sleep(0.1)
    assert not ending.done()
    _, _, body = await ask(endpoint, get("/metrics"))
    assert 'thresher_crawl_ended{crawl="solar"} 1.0' in body
    await asyncio.wait_for(ending, 5)


async def test_nobody_is_waited_for_where_nobody_scrapes(serve, monkeypatch):
    endpoint = await serve()
    with monkeypatch.context() as patch:
        patch.setattr(endpoint_module, "SCRAPED_SECONDS", 0.0)
        await asyncio.wait_for(endpoint.show_end(), 1)
    monkeypatch.setattr(endpoint_module, "LAST_SCRAPE_SECONDS", 0.1)
    await asyncio.wait_for(endpoint.show_end(), 1)  # it may not have been found yet, and who scraped may be gone


async def test_prometheus_finds_the_figures(serve):
    status, head, body = await ask(await serve(), get("/metrics"))
    assert status == 200
    assert "Content-Type: text/plain; version=0.0.4" in head
    assert 'thresher_pages_total{crawl="solar"} 0.0' in body
    assert 'thresher_crawl_urls{crawl="solar",state="waiting"} 0.0' in body
    assert "process_resident_memory_bytes" in body


async def test_a_worker_whose_loop_turns_is_healthy_whatever_the_store_does(serve):
    assert (await ask(await serve(Away()), get("/healthz")))[0] == 200


async def test_a_worker_is_ready_when_its_store_answers(serve):
    assert (await ask(await serve(), get("/readyz")))[0] == 200


async def test_a_worker_is_not_ready_when_its_store_is_away(serve):
    assert (await ask(await serve(Away()), get("/readyz")))[0] == 503


async def test_figures_are_served_while_the_store_is_away(serve):
    status, _, body = await ask(await serve(Away()), get("/metrics"))
    assert status == 200
    assert 'thresher_store_up{crawl="solar"} 0.0' in body


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get("/"), 404),
        (get("/metrics?name[]=x"), 200),
        (get("/metrics", "POST"), 405),
        (get("/../etc/passwd"), 404),
        (b"\r\n\r\n", 405),
        (b"GET\r\n\r\n", 404),
    ],
)
async def test_other_questions_are_turned_down(serve, request_, status):
    assert (await ask(await serve(), request_))[0] == status


async def test_a_question_without_end_is_not_read_to_its_end(serve):
    assert (await ask(await serve(), b"GET /metrics HTTP/1.1\r\nX: " + b"x" * (1 << 20)))[0] in (0, 400)


async def test_head_brings_no_body(serve):
    status, head, body = await ask(await serve(), get("/healthz", "HEAD"))
    assert (status, body) == (200, "")
    assert "Content-Length: 15" in head


async def test_who_says_nothing_is_let_go(serve, monkeypatch):
    monkeypatch.setattr(endpoint_module, "READ_SECONDS", 0.05)
    assert await ask(await serve(), b"GET /met") == (0, "", "")


async def test_too_many_questions_at_once_are_turned_away(serve, monkeypatch):
    monkeypatch.setattr(endpoint_module, "MAX_OPEN", 1)
    endpoint = await serve()
    _, silent = await asyncio.open_connection("127.0.0.1", endpoint.port)
    await asyncio.sleep(0.05)
    assert await ask(endpoint, get("/healthz")) == (0, "", "")
    silent.close()
    await asyncio.sleep(0.05)
    assert (await ask(endpoint, get("/healthz")))[0] == 200


async def test_a_port_that_is_taken_is_logged_and_stops_nothing(serve, caplog):
    taken = (await serve()).port
    with caplog.at_level(logging.ERROR):
        await serve(port=taken)
    assert f"no metrics on 127.0.0.1:{taken}" in caplog.text


async def test_a_worker_listens_on_loopback_by_default(serve):
    endpoint = await serve()
    [listening] = endpoint._server.sockets
    assert listening.getsockname()[0] == "127.0.0.1"


WORKER = """
import asyncio, signal, uvloop
from thresher.monitoring.http_endpoint import Endpoint
from thresher.monitoring.prometheus import WorkerMetrics
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

async def work():
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    endpoint = Endpoint(WorkerMetrics(crawl="solar", worker="w1"))
    endpoint.around(MemoryFrontier())
    await endpoint.start()
    print(endpoint.port, flush=True)
    await ended.wait()
    endpoint.stop()

uvloop.run(work())
"""


def test_it_serves_inside_the_loop_of_a_worker_and_ends_with_it():
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        port = int(process.stdout.readline())
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            assert b"thresher_worker_info" in answer.read()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=10)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, errors) == (0, "")
