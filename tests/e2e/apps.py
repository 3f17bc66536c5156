"""A site whose pages are made by a script: what the server sends says nothing, and links nowhere."""

from __future__ import annotations

import json
from typing import Any

from testing.recording_server import Answer, text

SHELL = (
    '<!doctype html><html><head><title>App</title></head><body><div id="root"></div>'
    "<noscript>You need to enable JavaScript to run this app.</noscript>"
    '<link rel="stylesheet" href="/style.css"><img src="/logo.png"><script src="/app.js"></script></body></html>'
)
FRAME = (
    "<!doctype html><html><head><title>App</title></head><body><header>"
    + "".join(f'<a href="/sections/{number}">Section {number}</a> ' for number in range(40))
    + '</header><main id="root" class="spinner"></main><footer>'
    + "Imprint, terms, and a long line about our company that is on every page of this site. " * 30
    + '</footer><script src="/app.js"></script></body></html>'
)
"""A shell with a menu and a footer."""
APP = """
fetch("/data" + location.pathname).then(answer => answer.json()).then(page => {
  document.title = page.title;
  const links = page.links.map(link => `<li><a href="${link}">more about solar cells</a></li>`).join("");
  document.getElementById("root").innerHTML = `<h1>${page.title}</h1><p>${page.text}</p><ul>${links}</ul>`;
});
"""
SETTINGS = {"engine": {"timeout_seconds": 5, "lease_seconds": 30}}


def app(pages: int, *, robots: str = "", shell: str = SHELL) -> dict[str, Any]:
    """Return the paths of a site with `pages` pages, each of which links to the next two of a tree."""
    data = {f"/data/{number or ''}": _data(number, pages) for number in range(pages)}
    shells: dict[str, Any] = {f"/{number or ''}": shell for number in range(pages)}
    script = Answer(body=APP, content_type="text/javascript")
    return {"/robots.txt": text(robots), "/app.js": script, **data, **shells}


def _data(number: int, pages: int) -> Answer:
    below = [f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < pages]
    printed = f"perovskite solar cells, page {number} of an app. " * 20
    reported = {"title": f"Solar cells {number}", "text": printed, "links": below}
    return Answer(body=json.dumps(reported), content_type="application/json")


def rendered(**more: Any) -> dict[str, Any]:
    """Return the settings of a crawl with a browser, as they are where tests run as root."""
    return {**SETTINGS, "browser": {"sandbox": False, **more}}
