"""The parts list of a release: ``python -m tests.release.sbom [folder with the wheel]`` writes it beside the wheel.

It names what the wheel brings with it when it is installed without extras, in CycloneDX's JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from testing.building import found, install, run
from thresher import __version__

NAME = f"thresher_crawler-{__version__}.cdx.json"


def parts_list(python: Path) -> dict[str, Any]:
    """List what is installed beside a Python."""
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON"]
    parts: dict[str, Any] = json.loads(run([*command, str(python)]))
    [own] = [part for part in parts["components"] if part["name"] == "thresher-crawler"]
    parts["components"].remove(own)
    own.pop("externalReferences", None)  # where on this machine the wheel lay
    parts["metadata"]["component"] = own
    return parts


def main(folder: Path) -> None:
    """Install the wheel of a folder into an environment that does not stay, and list its parts."""
    with tempfile.TemporaryDirectory() as scratch:
        parts = parts_list(install(found(folder).wheel, Path(scratch) / "bare"))
    path = folder / NAME
    path.write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(parts['components'])} packages")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "dist"))
