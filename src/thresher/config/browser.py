"""Find the Chromium that renders pages, and check that it can run; nothing is started."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

from thresher.config.schema import BrowserConfig, CrawlConfig
from thresher.errors import ConfigError
from thresher.locale.translation import _

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def check_browser(config: BrowserConfig) -> None:
    """Check that pages can be rendered, if the configuration requires it.

    Raises:
        ConfigError: They cannot; the message names what is missing.
    """
    if config.is_wanted and (trouble := browser_trouble(config)):
        raise ConfigError(trouble)


def uses_browser(config: CrawlConfig) -> bool:
    """Return whether pages may be rendered: when the user requires it, or by default where it is possible."""
    if config.browser.is_wanted or config.browser.detect is False:
        return config.browser.is_wanted
    return not config.rendering_lease_trouble and not browser_trouble(config.browser)


def browser_trouble(config: BrowserConfig) -> str:
    """Return why no page can be rendered here, and what to do about it; empty when pages can be rendered."""
    if find_spec("playwright") is None:
        return _('browser needs another package: pip install "thresher-crawler[browser]"')
    try:
        find_chromium(config)
    except ConfigError as error:
        return str(error)
    if config.sandbox and os.geteuid() == 0:
        return _(
            "browser: Chromium keeps pages in a sandbox only when it is not run by root. Run as another user; or, "
            "inside a container or a virtual machine of its own, set browser: {sandbox: false}"
        )
    return ""


def find_chromium(config: BrowserConfig) -> str:
    """Return the path of Chromium.

    Raises:
        ConfigError: There is none.
    """
    names = [config.executable] if config.executable else NAMES
    for name in names:
        if found := shutil.which(name):
            return found
    raise ConfigError(
        _(
            "browser: no Chromium here, looked for {names}. Install one (Debian: apt install chromium), or "
            "name it: browser: {{executable: …}}",
            names=", ".join(names),
        )
    )
