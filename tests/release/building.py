"""How a release is built and installed: from this source, without a network for the one, by name for the other."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Dist:
    """A wheel and the archive of its source."""

    wheel: Path
    sdist: Path


def build(folder: Path, *, source: Path = ROOT) -> Dist:
    """Build both with the hatchling that is installed."""
    run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], folder=source)
    return found(folder)


def found(folder: Path) -> Dist:
    """Return what was built into a folder."""
    [wheel], [sdist] = folder.glob("thresher_crawler-*.whl"), folder.glob("thresher_crawler-*.tar.gz")
    return Dist(wheel, sdist)


def install(wheel: Path, folder: Path) -> Path:
    """Install a wheel and what it needs, nothing else, into a new environment; return its Python."""
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    run([*pip, "install", "--quiet", "--no-compile", "-c", str(ROOT / "constraints.txt"), str(wheel)])
    return python


def run(command: list[str], *, folder: Path = ROOT) -> str:
    """Run a command to its good end, and return what it printed.

    Raises:
        SystemExit: It ended badly.
    """
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout
