"""A real Chromium, driven by Playwright; tests that need one are skipped, with the reason, where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from testing.screens.world import Dashboard

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NO_CHROMIUM = "no chromium here: apt-get install chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
LOCALES = {"en": "en-GB", "zh": "zh-CN"}

_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser for as long as the block lasts."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Complaints:
    """What a browser reported against a page: errors, dialogs, requests to anybody else."""

    messages: list[str] = field(default_factory=list)

    def watch(self, page: Page, origin: str) -> None:
        """Listen to a page."""
        page.on("console", lambda message: self.messages.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", lambda request: self._request(request.url, origin))

    def _dialog(self, dialog: Any) -> None:
        self.messages.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, url: str, origin: str) -> None:
        if not url.startswith((f"{origin}/", "data:")):
            self.messages.append(f"a request to {url}")


@dataclass
class Visitor:
    """Somebody who looks at a dashboard, with one window.

    Args:
        origin: Of the dashboard.
        complaints: What the browser reported against the pages; a visit that went well has none.
    """

    origin: str
    context: BrowserContext
    page: Page
    complaints: Complaints

    def visit(self, path: str) -> Page:
        """Go to a screen."""
        self.page.goto(f"{self.origin}{path}")
        return self.page

    def violations(self) -> list[str]:
        """Return what the page's policy stopped since it was loaded."""
        stopped: list[str] = self.page.evaluate("window.violations")
        return stopped


def visitor(
    browser: Browser,
    dashboard: Dashboard,
    *,
    language: str = "en",
    scheme: str = "light",
    size: dict[str, int] = WIDE,
    javascript: bool = True,
) -> Visitor:
    """Open a window of somebody who has logged in."""
    context = browser.new_context(
        locale=LOCALES[language],
        color_scheme=scheme,  # type: ignore[arg-type]
        viewport=size,  # type: ignore[arg-type]
        java_script_enabled=javascript,
        reduced_motion="reduce",
    )
    context.add_init_script(_WATCH)
    context.add_cookies([dashboard.cookie])  # type: ignore[list-item]
    page = context.new_page()
    page.set_default_timeout(20_000)
    complaints = Complaints()
    complaints.watch(page, dashboard.origin)
    return Visitor(dashboard.origin, context, page, complaints)
