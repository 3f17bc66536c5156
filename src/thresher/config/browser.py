"""Find the Chromium that renders pages, and check that it can run; nothing is started."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

from thresher.config.schema import BrowserConfig
from thresher.errors import ConfigError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def check_browser(config: BrowserConfig) -> None:
    """Check that pages can be rendered, if the configuration requires it.

    Raises:
        ConfigError: They cannot; the message names what is missing.
    """
    if not config.is_wanted:
        return
    if find_spec("playwright") is None:
        raise ConfigError('browser needs another package: pip install "thresher-crawler[browser]"')
    find_chromium(config)
    if config.sandbox and os.geteuid() == 0:
        raise ConfigError(
            "browser: Chromium keeps pages in a sandbox only when it is not run by root. Run as another user; or, "
            "inside a container or a virtual machine of its own, set browser: {sandbox: false}"
        )


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
        f"browser: no Chromium here, looked for {', '.join(names)}. Install one (Debian: apt install chromium), or "
        "name it: browser: {executable: …}"
    )
