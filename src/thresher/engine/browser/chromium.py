"""The installed Chromium: started when first needed, and restarted after a crash and every `PAGES_PER_START` pages."""

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
"""It is restarted after this many pages, when none is open: the memory of browsers grows."""
START_SECONDS = 30.0
CLOSE_SECONDS = 5.0
POLL_SECONDS = 1.0
MAX_RENDERER_BYTES = 1 << 30
"""A renderer process with more memory is killed; only its page fails."""

BYPASS = "<-loopback>"
"""Use the proxy for all addresses, also for those of this machine, which Chromium excludes by default."""

FLAGS = (
    "--disable-quic",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # read by Chromium
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # read by its headless shell
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # only the proxy resolves names
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
    """The browser died, was killed or did not answer. The page is not blamed the first time."""


class Chromium:
    """One browser process with its child processes.

    Args:
        sandbox: Whether pages run in its sandbox.
        proxy_url: The only way to the network.
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
        """Return a running browser, for one page; call `leave` afterwards.

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
        """Count a page as closed."""
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
            raise ConfigError(
                f"browser: {self._executable} does not start: {_first_lines(str(error))}. "
                "Start it by hand, or name another: browser: {executable: …}"
            ) from error
        self._pages = 0
        self._watching = asyncio.create_task(self._watch(self._browser))

    async def _watch(self, browser: Browser) -> None:
        """Kill renderer processes that use too much memory."""
        with suppress(PlaywrightError):
            session = await browser.new_browser_cdp_session()
            while browser.is_connected():
                for process in await _renderers(session):
                    if memory_bytes(process) > MAX_RENDERER_BYTES:
                        logger.warning("killed a page that used more than %d MiB", MAX_RENDERER_BYTES >> 20)
                        with suppress(ProcessLookupError):
                            os.kill(process, signal.SIGKILL)
                await asyncio.sleep(POLL_SECONDS)

    async def kill(self) -> None:
        """Close a browser that does not answer; the next page gets a new one."""
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
        await self._end()
        playwright, self._playwright = self._playwright, None
        if playwright:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await playwright.stop()


async def _renderers(session: CDPSession) -> list[int]:
    info = await session.send("SystemInfo.getProcessInfo")
    return [int(process["id"]) for process in info["processInfo"] if process["type"] == "renderer"]


def memory_bytes(process: int) -> int:
    """Return the unshared memory of a process; 0 when it is gone, or on systems without /proc."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def _first_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "ERROR" in line or "sandbox" in line.lower()]
    return " ".join((errors or lines)[:2])[:500]
