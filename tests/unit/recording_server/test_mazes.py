import re
from urllib.parse import urljoin, urlsplit

import pytest

from testing.recording_server import mazes
from testing.recording_server.script import Request

MAZES = ["calendar", "sessions", "facets", "nested", "soft_404", "markov"]


def ask(target: str, host: str = "maze.test") -> Request:
    return Request(method="GET", host=host, address="127.0.0.2", target=target, headers=(), number=1)


def walk(maze: str, steps: int) -> list[str]:
    """Follow the last link of every page."""
    targets = ["/"]
    for _ in range(steps):
        links = re.findall(r'href="([^"]+)"', getattr(mazes, maze)(ask(targets[-1])).body.replace("&amp;", "&"))
        parts = urlsplit(urljoin(f"http://maze.test{targets[-1]}", links[-1]))
        targets.append(parts.path + (f"?{parts.query}" if parts.query else ""))
    return targets


@pytest.mark.parametrize("maze", MAZES)
def test_a_maze_goes_on_and_is_the_same_each_time(maze):
    targets = walk(maze, 30)
    assert targets == walk(maze, 30)
    assert len(set(targets)) > (5 if maze == "facets" else 25)


def test_a_calendar_has_a_page_per_day():
    answer = mazes.calendar(ask("/c?date=2026-12-31"))
    assert re.findall(r'href="/c\?date=([^"]+)"', answer.body) == ["2026-12-30", "2027-01-01", "2027-01-31"]


def test_babble_is_stuffed_with_the_topic():
    body = mazes.markov(ask("/"), topic=["perovskite"]).body
    assert body.count("perovskite") > 50


def test_redirects_lead_to_ever_new_hosts():
    first = dict(mazes.ever_new_hosts(ask("/x"), domain="new.test").headers)["Location"]
    host = urlsplit(first).hostname
    assert host.endswith(".new.test")
    assert dict(mazes.ever_new_hosts(ask("/x", host), domain="new.test").headers)["Location"] != first
