"""Compiled loops for what a page costs most: words, and features of links.

``loops.pyx`` is optional. Each function does the same as the Python code beside its only caller, which is the reference
and runs where the module was not compiled. ``THRESHER_NATIVE=0`` disables it.
"""

from __future__ import annotations

import os

try:
    from thresher.native import loops as compiled
except ImportError:  # not compiled
    compiled = None  # type: ignore[assignment]
if os.environ.get("THRESHER_NATIVE") == "0":
    compiled = None  # type: ignore[assignment]

__all__ = ["compiled"]
