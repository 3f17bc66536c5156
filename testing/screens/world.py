"""A generated web on loopback, crawl folders that lead to it, and the dashboard in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testing.live_crawl import write_crawl
from thresher.config.folder import CrawlFolder
from thresher_lab.webs.generator import GeneratedWeb, generate
from thresher_lab.webs.server import WebServer
from thresher_ui.dashboard.serve import TOKEN_VARIABLE

END_SECONDS = 40
TOPICS = {"music": ("Arts/Music", "音乐"), "stars": ("Science/Astronomy", "天文学")}
KEYWORDS = {
    "music": [
        "song concert orchestra piano violin guitar melody opera symphony",
        "歌曲 乐团 钢琴 小提琴 旋律 歌剧 交响乐",
    ],
    "stars": ["star planet galaxy telescope orbit comet nebula", "恒星 行星 星系 望远镜 轨道 彗星 星云"],
}


@contextmanager
def served(web: GeneratedWeb, *, latency_seconds: float = 0.0) -> Iterator[dict[str, str]]:
    """Serve a web in a thread of its own; gives what network.connect_to must say."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = WebServer(web, latency_seconds=latency_seconds)
    try:
        yield asyncio.run_coroutine_threadsafe(server.start(), loop).result(30)
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: WebServer) -> None:
    await server.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def write_crawls(root: Path, web: GeneratedWeb, places: Mapping[str, str]) -> dict[str, Path]:
    """Write a crawl folder for each topic; hosts are asked twenty times a second at most."""
    folders = {}
    for name, (topic, chinese) in TOPICS.items():
        title = {"en": topic.partition("/")[2], "zh": chinese}
        more: dict[str, Any] = {"title": title, "keywords": KEYWORDS[name], "politeness": {"delay_seconds": 0.05}}
        folders[name] = write_crawl(root / name, web, topic, places, {"name": "thresher"}, **more)
    return folders


def crawl(folder: Path, pages: int) -> None:
    """Crawl this many pages, as a user would."""
    command = [sys.executable, "-m", "thresher", "run", str(folder), "--pages", str(pages)]
    subprocess.run(command, check=False, capture_output=True, timeout=120)


@dataclass(frozen=True)
class Dashboard:
    """A dashboard that runs.

    Args:
        origin: Where.
        token: What lets one in.
    """

    origin: str
    token: str

    @property
    def cookie(self) -> dict[str, str]:
        """What a browser that has logged in holds."""
        port = self.origin.rpartition(":")[2]
        return {"name": f"thresher-{port}", "value": self.token, "url": self.origin}

    def ask(self, path: str, body: Any = None) -> Any:
        """Ask the API, as a program would."""
        sent = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        with urllib.request.urlopen(
            urllib.request.Request(f"{self.origin}{path}", sent, headers), timeout=60
        ) as answer:
            return json.load(answer)


@contextmanager
def dashboard(folders: Sequence[Path]) -> Iterator[Dashboard]:
    """Run `thresher ui` over folders for as long as the block lasts."""
    token = secrets.token_urlsafe(32)
    command = [sys.executable, "-m", "thresher", "ui", *map(str, folders), "--port", "0", "--no-open"]
    process = subprocess.Popen(
        command,
        env={**os.environ, TOKEN_VARIABLE: token},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the dashboard did not start"
        yield Dashboard(address.partition("/login")[0], token)
    finally:
        process.terminate()
        process.wait(timeout=20)
        assert process.stdout is not None
        process.stdout.close()


def stop(folder: Path) -> None:
    """End a run that is still under way, and wait until it has."""
    command = [sys.executable, "-m", "thresher", "stop", str(folder)]
    subprocess.run(command, check=False, capture_output=True, timeout=60)
    until = time.monotonic() + END_SECONDS
    while CrawlFolder(folder).runner() and time.monotonic() < until:
        time.sleep(0.2)


def made_up_web() -> GeneratedWeb:
    """Plan the web of these tests."""
    topics = ("Arts/Music", "Science/Astronomy", "Life/Cooking", "Sport/Sailing")
    return generate(3, pages=6000, hosts=60, topics=topics, tunnel_depth=0, page_bytes=3000)
