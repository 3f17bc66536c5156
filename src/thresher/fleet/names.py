"""Names of machines and workers: unique over a crawl, the same after a restart, and fit for files and keys."""

from __future__ import annotations

import hashlib
import re
import secrets
import socket

from thresher.folder import CrawlFolder

_LONGEST = 40


def machine_mark(folder: CrawlFolder) -> str:
    """Return what tells this folder from that of any other machine: drawn once, and kept in it."""
    if not folder.mark.is_file():
        folder.mark.write_text(secrets.token_hex(3), encoding="ascii")
    mark = folder.mark.read_text(encoding="ascii", errors="replace").strip()
    return mark if re.fullmatch(r"[0-9a-f]{6}", mark) else plain(mark)


def machine_name(folder: CrawlFolder, given: str = "") -> str:
    """Return the name of this machine in a crawl: as given, or its host's with the mark of its folder."""
    return plain(given) if given else f"{plain(socket.gethostname())}-{machine_mark(folder)}"


def worker_names(machine: str, count: int) -> list[str]:
    """Return the names of the workers of a machine."""
    return [f"{machine}-w{number}" for number in range(1, count + 1)]


def plain(name: str) -> str:
    """Return a name of small letters, digits and hyphens; one that had to be changed stays apart from all others."""
    cleaned = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-")
    if cleaned and cleaned == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{cleaned}-{digest}" if cleaned else digest
