"""How a release is built and installed: from this source, without a network for the one, by name for the other."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Dist:
    """A wheel and the archive of its source."""

    wheel: Path
    sdist: Path


def build(folder: Path, *, source: Path = ROOT) -> Dist:
    """Build the source archive and the wheel for all platforms with the hatchling that is installed."""
    _build(folder, source, THRESHER_NATIVE="0")
    return found(folder)


def found(folder: Path) -> Dist:
    """Return what was built into a folder."""
    [wheel], [sdist] = folder.glob("thresher_crawler-*.whl"), folder.glob("thresher_crawler-*.tar.gz")
    return Dist(wheel, sdist)


def build_wheel(folder: Path, **environment: str) -> Path:
    """Build the wheel that a user of this platform gets: with compiled loops if there is a compiler."""
    _build(folder, ROOT, "-t", "wheel", **environment)
    [wheel] = folder.glob("thresher_crawler-*.whl")
    return wheel


def _build(folder: Path, source: Path, *options: str, **environment: str) -> None:
    run([sys.executable, "-m", "hatchling", "build", "-d", str(folder), *options], folder=source, **environment)


def install(package: Path, folder: Path, *options: str, extras: str = "", **environment: str) -> Path:
    """Install a wheel or source archive and what it needs into a new environment; return its Python."""
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    wanted = f"{package}[{extras}]" if extras else str(package)
    pinned = ["-c", str(ROOT / "constraints.txt")]
    run([*pip, "install", "--quiet", "--no-compile", *pinned, *options, wanted], **environment)
    return python


def run(command: list[str], *, folder: Path = ROOT, **environment: str) -> str:
    """Run a command to its good end, and return what it printed.

    Raises:
        SystemExit: It ended badly.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout
