"""The unit tests on every Python that is promised and found on PATH: ``python -m tests.release.versions [options]``.

Each gets an environment of its own, which does not stay. Options go to pytest.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from testing.building import ROOT, run
from tests.levels import SIDE_BY_SIDE

PROMISE = "Programming Language :: Python :: 3."


def promised() -> list[str]:
    """Return the versions that pyproject.toml names, such as 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [f"3.{name.removeprefix(PROMISE)}" for name in project["classifiers"] if name.startswith(PROMISE)]


def there() -> Iterator[str]:
    """Yield the interpreters of these versions that can be called; say which cannot."""
    for version in promised():
        try:
            subprocess.run([f"python{version}", "-c", ""], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            print(f"python{version} is not there; it is left out", flush=True)
        else:
            yield f"python{version}"


def tested(interpreter: str, options: Sequence[str]) -> bool:
    """Run the unit tests; tell whether they passed."""
    with tempfile.TemporaryDirectory() as scratch:
        python = str(Path(scratch) / "bin" / "python")
        run([interpreter, "-m", "venv", scratch])
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run([*install, "-c", "constraints.txt", "-e", ".[dev]"])
        tests = ["tests/unit", "tests/contract", "-p", "no:cacheprovider", *SIDE_BY_SIDE, *options]
        return subprocess.run([python, "-m", "pytest", *tests], cwd=ROOT).returncode == 0


def main(options: Sequence[str]) -> int:
    """Test one version after another; end with 1 when one of them failed, or none was there."""
    results = {}
    for interpreter in there():
        results[interpreter] = tested(interpreter, options)
        print(f"{interpreter}: {'passed' if results[interpreter] else 'failed'}", flush=True)
    return 0 if results and all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
