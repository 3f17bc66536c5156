"""Known weaknesses of what is installed: ``python -m tests.release.audit``.

pip-audit asks a public service. Where that cannot be reached, nothing is known; this says so, and is no failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

COMMAND = ["-m", "pip_audit", "--progress-spinner", "off", "--skip-editable", "--format", "json", "--timeout", "10"]
MAX_SECONDS = 300


def verdict(packages: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
    """Say what the answer of pip-audit means, and which exit code that is."""
    asked = [package for package in packages if "skip_reason" not in package]
    weak = [f"{each['name']} {each['version']}: {_names(each['vulns'])}" for each in asked if each["vulns"]]
    if not asked:
        return f"Nothing is known: the service answered for none of {len(packages)} packages.", 0
    if weak:
        return "\n".join([f"{len(weak)} of {len(asked)} packages have known weaknesses:", *weak]), 1
    unknown = len(packages) - len(asked)
    return f"No known weakness in {len(asked)} packages; {unknown} are not known to the service.", 0


def _names(weaknesses: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{each['id']} (fixed in {', '.join(each['fix_versions']) or 'none'})" for each in weaknesses)


def main() -> int:
    """Ask, and print what the answer means."""
    try:
        done = subprocess.run([sys.executable, *COMMAND], capture_output=True, text=True, timeout=MAX_SECONDS)
        packages = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        print(f"Nothing is known: the service did not answer within {MAX_SECONDS} s.")
        return 0
    except ValueError:
        words = done.stderr.strip().splitlines() or ["it said nothing"]
        print(f"Nothing is known: the service cannot be asked here ({words[-1]}).")
        return 0
    sentence, code = verdict(packages)
    print(sentence)
    return code


if __name__ == "__main__":
    sys.exit(main())
