"""Names of machines and workers: unique within a crawl, stable over restarts, and safe in file names and keys."""

from __future__ import annotations

import hashlib
import re
import secrets
import socket

from thresher.config.folder import CrawlFolder

_LONGEST = 40


def machine_id(folder: CrawlFolder) -> str:
    """Return a random id of this folder, unique among all machines: generated once, and stored in the folder."""
    if not folder.mark.is_file():
        folder.mark.write_text(secrets.token_hex(3), encoding="ascii")
    mark = folder.mark.read_text(encoding="ascii", errors="replace").strip()
    return mark if re.fullmatch(r"[0-9a-f]{6}", mark) else plain(mark)


def machine_name(folder: CrawlFolder, given: str = "") -> str:
    """Return the name of this machine in a crawl: as given, or its host name with the mark of its folder."""
    return plain(given) if given else f"{plain(socket.gethostname())}-{machine_id(folder)}"


def worker_names(machine: str, count: int) -> list[str]:
    """Return names for the workers of a machine."""
    return [f"{machine}-w{number}" for number in range(1, count + 1)]


def plain(name: str) -> str:
    """Return a name of lower-case letters, digits and hyphens; a changed name gets a digest, to stay unique."""
    cleaned = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-")
    if cleaned and cleaned == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{cleaned}-{digest}" if cleaned else digest
