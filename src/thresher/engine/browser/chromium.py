"""A Chromium of the machine, started when it is first needed, again when it has died, and anew every now and then."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path

from playwright.async_api import Browser, CDPSession, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from thresher.errors import ConfigError

logger = logging.getLogger(__name__)

PAGES_PER_START = 200
"""After so many pages it is started anew, when none is open: browsers grow."""
START_SECONDS = 30.0
CLOSE_SECONDS = 5.0
LOOK_SECONDS = 1.0
MAX_RENDERER_BYTES = 1 << 30
"""A process that renders pages and has taken more memory is ended; only its page breaks."""

BYPASS = "<-loopback>"
"""No exception from the proxy, not even for addresses of this machine, which Chromium excepts by itself."""

FLAGS = (
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # read by Chromium
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # read by its headless shell
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the proxy looks names up, nobody else does
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-gpu",
    "--no-first-run",
    "--no-pings",
    "--js-flags=--max-old-space-size=256",
)
_PASSED_ON = ("HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")


class BrowserGone(Exception):
    """The browser died, was killed or did not answer; the page is not to blame until it happens again."""


class Chromium:
    """One browser process with its helpers.

    Args:
        executable: The program.
        sandbox: Whether pages are kept in its sandbox.
        proxy_url: The one way out.
    """

    def __init__(self, executable: str, *, sandbox: bool, proxy_url: str) -> None:
        self._executable = executable
        self._sandbox = sandbox
        self._proxy_url = proxy_url
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._watching: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._pages = self._open = 0

    async def enter(self) -> Browser:
        """Return a browser that runs, for one page; `leave` must follow.

        Raises:
            ConfigError: It cannot be started.
        """
        async with self._starting:
            if self._browser and (not self._browser.is_connected() or self._is_old):
                await self._end()
            if self._browser is None:
                await self._start()
            self._pages += 1
            self._open += 1
            assert self._browser is not None
            return self._browser

    def leave(self) -> None:
        """Say that a page is closed."""
        self._open -= 1

    @property
    def _is_old(self) -> bool:
        return self._pages >= PAGES_PER_START and not self._open

    async def _start(self) -> None:
        self._playwright = self._playwright or await async_playwright().start()
        try:
            self._browser = await self._playwright.chromium.launch(
                executable_path=self._executable,
                args=list(FLAGS),
                chromium_sandbox=self._sandbox,
                proxy={"server": self._proxy_url, "bypass": BYPASS},
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=START_SECONDS * 1000,
            )
        except PlaywrightError as error:
            raise ConfigError(f"browser: {self._executable} does not start: {_first_lines(str(error))}") from error
        self._pages = 0
        self._watching = asyncio.create_task(self._watch(self._browser))

    async def _watch(self, browser: Browser) -> None:
        """End renderers that take too much memory."""
        with suppress(PlaywrightError):
            session = await browser.new_browser_cdp_session()
            while browser.is_connected():
                for process in await _renderers(session):
                    if memory_bytes(process) > MAX_RENDERER_BYTES:
                        logger.warning("a page took more than %d MiB, and was ended", MAX_RENDERER_BYTES >> 20)
                        with suppress(ProcessLookupError):
                            os.kill(process, signal.SIGKILL)
                await asyncio.sleep(LOOK_SECONDS)

    async def kill(self) -> None:
        """Let go of a browser that does not answer; the next page gets another."""
        async with self._starting:
            await self._end()

    async def _end(self) -> None:
        browser, self._browser = self._browser, None
        if self._watching:
            self._watching.cancel()
        if browser:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await browser.close()

    async def close(self) -> None:
        """End it, and what drives it."""
        await self._end()
        playwright, self._playwright = self._playwright, None
        if playwright:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await playwright.stop()


async def _renderers(session: CDPSession) -> list[int]:
    told = await session.send("SystemInfo.getProcessInfo")
    return [int(process["id"]) for process in told["processInfo"] if process["type"] == "renderer"]


def memory_bytes(process: int) -> int:
    """Return how much memory a process has for itself; 0 when it has gone, or where nobody can tell."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def _first_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "ERROR" in line or "sandbox" in line.lower()]
    return " ".join((telling or lines)[:2])[:500]
