"""Pictures of all screens for the docs: ``python -m tests.screens.pictures [FOLDER]``; two minutes.

A made-up web is crawled while the pictures are taken, so that the numbers are of a crawl that runs. Some pages are
Chinese: a Chinese font must be installed, such as Debian's fonts-noto-cjk.
"""

from __future__ import annotations

import sys
import time
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser

from testing.screens import world
from testing.screens.browser import Visitor, chromium, visitor
from testing.screens.places import NAMES, screens_of

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SIZE = {"width": 1180, "height": 860}
COLOURS = 96
FIRST_PAGES = {"music": 400, "stars": 150}
ANSWERS = "yyn"
CHINESE = ["overview", "label", "page"]


def main(folder: Path) -> None:
    """Crawl, look, and keep what is seen."""
    folder.mkdir(parents=True, exist_ok=True)
    web = world.made_up_web()
    with TemporaryDirectory() as root, world.served(web, latency_seconds=0.05) as places:
        folders = world.write_crawls(Path(root), web, places)
        for name, pages in FIRST_PAGES.items():
            world.crawl(folders[name], pages)
        with world.dashboard(list(folders.values())) as dashboard, chromium() as browser:
            dashboard.ask("/api/crawls/music/control", {"do": "start", "pages": 3000, "minutes": 10})
            time.sleep(8)
            _all_pictures(browser, dashboard, folder)
        world.stop(folders["music"])


def _all_pictures(browser: Browser, dashboard: world.Dashboard, folder: Path) -> None:
    places = screens_of(dashboard, "music", "orchestra")
    looks = [("", "en", "light", NAMES), ("-dark", "en", "dark", NAMES), ("-zh", "zh", "light", CHINESE)]
    for ending, language, scheme, names in looks:
        somebody = visitor(browser, dashboard, language=language, scheme=scheme, size=SIZE)
        for name in names:
            somebody.visit(places[name])
            _prepare(somebody, name)
            _keep(somebody.page.screenshot(), folder / f"dashboard-{name}{ending}.png")
        somebody.context.close()


def _prepare(somebody: Visitor, name: str) -> None:
    page = somebody.page
    if name == "label":
        for answer in ANSWERS:
            asked = page.locator(".question .where bdi").inner_text()
            page.keyboard.press(answer)
            page.locator(".taught", has_text=asked).wait_for()
    if name == "search":
        while not page.locator(".hits li").count():
            page.wait_for_timeout(500)
            page.reload()
    page.wait_for_timeout(1_500)


def _keep(picture: bytes, path: Path) -> None:
    """Write a picture with few colours: a tenth of the bytes, and nothing to be seen of it."""
    Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
