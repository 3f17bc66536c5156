"""Compiled code for what a page costs most: words, features of links, and the tree of the page.

The modules are optional, and are used together or not at all. Each function does the same as the Python code beside its
only caller, which is the reference and runs where they were not compiled. ``THRESHER_NATIVE=0`` disables them.
"""

from __future__ import annotations

import os

try:
    from thresher.native import loops as compiled
    from thresher.native import tree as compiled_tree
except ImportError:  # not compiled, or not both
    compiled = compiled_tree = None  # type: ignore[assignment]
if os.environ.get("THRESHER_NATIVE") == "0":
    compiled = compiled_tree = None  # type: ignore[assignment]

__all__ = ["compiled", "compiled_tree"]
