"""Training data gathered over real sockets: politely, once, and not lost when the process is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from tests.e2e.conftest import quick, serving
from tests.unit.papers.strategies.layers.small_source import SmallSource
from thresher_papers.strategies.layers.source import ELSEWHERE

SOURCE = SmallSource()
CLASSES = {"Solar": range(10), "Hubs": range(10, 20), "Fronts": range(20, 30), "Tea": range(30, 40)}


def page(number):
    links = "".join(
        f'<a href="/{target}">{anchor}</a> ' for target, anchor in SOURCE.links(number) if target != ELSEWHERE
    )
    return f"<title>Page {number}</title><p>{SOURCE.text(number)} page {number}</p>{links}"


@pytest.fixture
def solar(site, thresher, tmp_path):
    site.pages = {f"/{number}": page(number) for number in range(40)}
    made = thresher("new", "solar", "--topic", "solar cells", "--seed", site.url("/0"), "--strategy", "layers")
    assert made.returncode == 0, made.stderr
    quick(tmp_path / "solar")
    targets = "".join(f"{site.url(f'/{number}')}\n" for number in range(10))
    (tmp_path / "targets.txt").write_text(targets)
    ends = [(tail, head) for tail in range(40) for head, _ in SOURCE.links(tail) if head != ELSEWHERE]
    links = "".join(f"{site.url(f'/{tail}')}\t{site.url(f'/{head}')}\n" for tail, head in ends)
    (tmp_path / "links.tsv").write_text(links)
    return tmp_path / "solar"


def collected(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def pages_asked(site):
    return [path for path in site.paths if path != "/robots.txt"]


def test_targets_and_their_back_links_are_fetched_and_the_model_crawls(solar, site, thresher):
    command = ("train", "solar", "--examples", "targets.txt", "--links", "links.tsv", "--layers", 2, "--json")
    found = collected(thresher(*command))
    assert sorted(pages_asked(site), key=lambda path: int(path[1:])) == [f"/{number}" for number in range(30)]
    assert [layer["pages"] for layer in found["layers"]] == [10, 10, 10, 0]
    assert found["quality"]["accuracy"] > 0.8
    assert (solar / "model" / "trained" / "layers.json").is_file()
    before = len(site.paths)
    assert collected(thresher(*command)) == found
    assert len(site.paths) == before
    ran = thresher("run", "solar", "--pages", 5)
    assert ran.returncode == 0, ran.stderr


def test_rules_are_learned_from_example_pages_and_what_they_link_to(solar, site, thresher, tmp_path):
    rows = [(label, site.url(f"/{page}")) for label, pages in CLASSES.items() for page in pages]
    (tmp_path / "examples.tsv").write_text("".join(f"{label}\t{url}\n" for label, url in rows if not url.endswith("9")))
    done = thresher("train", "solar", "--train", "rules", "--examples", "examples.tsv", "--target", "Solar")
    assert done.returncode == 0, done.stderr
    assert (
        len(pages_asked(site)) == len(set(pages_asked(site))) == 38
    )  # nothing that was fetched links to pages 19 and 29
    assert "  1.000  Hubs → Solar (1.00)" in done.stdout
    assert "thresher run solar --strategy rules" in done.stderr


def test_a_search_source_finds_back_links_and_those_that_do_not_link_do_not_count(solar, site, thresher):
    with serving() as engine:
        for number in range(40):
            before = [site.url(f"/{page}") for page in SOURCE.graph.predecessors(number).tolist()]
            body = json.dumps({"results": [{"url": url} for url in [*before, site.url("/35")]]})
            query = f"%22http%3A%2F%2F127.0.0.1%3A{site.port}%2F{number}%22"
            engine.pages[f"/search?q={query}&format=json"] = (200, {"Content-Type": "application/json"}, body)
        command = ("train", "solar", "--examples", "targets.txt", "--search", engine.url("/search"), "--layers", 2)
        found = collected(thresher(*command, "--json"))
        assert len(engine.paths) == 20
        assert collected(thresher(*command, "--json")) == found
        assert len(engine.paths) == 20
    assert "/35" in pages_asked(site)
    assert [layer["pages"] for layer in found["layers"]] == [10, 10, 10, 0]
    assert found["collected"][1] == {"name": "layer 1", "found": 11, "requested": 11, "pages": 10}


def test_an_earlier_crawl_gives_pages_and_links(solar, site, thresher, tmp_path):
    site.pages["/"] = "<title>All</title>" + "".join(f'<a href="/{n}">page {n}</a>' for n in range(40))
    made = thresher(
        "new", "earlier", "--topic", "solar cell panel", "--seed", site.url("/"), "--strategy", "best-first"
    )
    assert made.returncode == 0, made.stderr
    quick(tmp_path / "earlier", judge="{name: cosine, threshold: 0.3}", output="{keep_irrelevant: true}")
    assert thresher("run", "earlier").returncode == 0
    before = len(site.paths)
    found = collected(thresher("train", "solar", "--from", "earlier", "--examples", "targets.txt", "--json"))
    assert len(site.paths) == before
    assert [layer["pages"] for layer in found["layers"]][:2] == [10, 11]


def test_robots_delay_and_the_address_guard_hold(solar, site, thresher, tmp_path):
    quick(solar, politeness="{delay_seconds: 0.2}")
    site.pages["/robots.txt"] = (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /3\n")
    (tmp_path / "targets.txt").write_text(
        "".join(f"{site.url(f'/{number}')}\n" for number in range(8)) + "http://10.0.0.1/\n"
    )
    done = thresher("train", "solar", "--examples", "targets.txt", "--links", "links.tsv", "--layers", 1)
    assert done.returncode == 0, done.stderr
    assert "/3" not in site.paths
    assert "1 URL on 1 host: disallowed by robots.txt" in done.stdout
    assert "10.0.0.1" in done.stdout
    times = [at for at, _, _ in site.requests]
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.19


def test_nothing_is_lost_when_it_is_killed(solar, site, thresher, tmp_path):
    quick(solar, politeness="{delay_seconds: 0.15}")
    command = ["train", "solar", "--examples", "targets.txt", "--links", "links.tsv", "--layers", "2", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "thresher", *command], cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"}
    )
    deadline = time.monotonic() + 30
    while len(pages_asked(site)) < 14 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    killed_at = len(pages_asked(site))
    assert 14 <= killed_at < 30
    found = collected(thresher(*command))
    assert [layer["pages"] for layer in found["layers"]] == [10, 10, 10, 0]
    twice = len(pages_asked(site)) - len(set(pages_asked(site)))
    assert twice <= 1  # the one request that was open when it was killed
    assert set(pages_asked(site)) == {f"/{number}" for number in range(30)}


def test_ctrl_c_keeps_what_was_fetched_and_says_how_to_go_on(solar, site, tmp_path):
    quick(solar, politeness="{delay_seconds: 0.15}")
    command = [
        sys.executable,
        "-m",
        "thresher",
        "train",
        "solar",
        "--examples",
        "targets.txt",
        "--links",
        "links.tsv",
    ]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while len(pages_asked(site)) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 11
    assert "the fetched pages are kept; the same command continues" in err
