"""Compile ``thresher.native.loops``: as a build hook of hatchling, or in place with ``python hatch_build.py``.

The hook is off by default, so that wheel and source archive install without a compiler. Enable it with
``HATCH_BUILD_HOOK_ENABLE_CUSTOM=true``; the wheel is then one for this platform and this version of Python.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SOURCE = ROOT / "src" / "thresher" / "native" / "loops.pyx"
MODULE = "thresher.native.loops"


def compile_loops() -> Path:
    """Compile the module and put it beside its source; return its path."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / SOURCE.name
        shutil.copy(SOURCE, source)
        extension = Extension(MODULE, [str(source)], extra_compile_args=["-O3", "-ffp-contract=off"])
        modules = cythonize([extension], build_dir=folder, quiet=True, language_level=3)
        command = build_ext(Distribution({"ext_modules": modules}))
        command.build_lib = command.build_temp = folder
        command.ensure_finalized()
        command.run()
        built = Path(command.get_ext_fullpath(MODULE))
        target = SOURCE.parent / built.name
        waiting = target.with_suffix(".new")
        shutil.copy(built, waiting)
        waiting.replace(target)  # a process that has the old file open keeps it
    return target


class CustomBuildHook(BuildHookInterface[Any]):
    """Adds the compiled module to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "wheel":
            built = compile_loops()
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            build_data["artifacts"].append(str(built.relative_to(ROOT)))


if __name__ == "__main__":
    print(f"compiled {compile_loops().relative_to(ROOT)}")
