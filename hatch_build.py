"""Compile ``thresher.native.loops``: as a build hook of hatchling, or in place with ``python hatch_build.py``.

A wheel with the compiled loops is one for this platform and this version of Python. Where they cannot be compiled, the
wheel is built without them, and a warning says so. ``THRESHER_NATIVE=require`` makes that an error, as in the release,
and ``THRESHER_NATIVE=0`` leaves them out: that wheel runs everywhere. An editable installation is left as it is.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SOURCE = ROOT / "src" / "thresher" / "native" / "loops.pyx"
MODULE = "thresher.native.loops"
COMPILE = ["-O3", "-ffp-contract=off", "-g0"]


def compile_loops(target: Path = SOURCE.parent) -> Path:
    """Compile the module into a folder; return its path."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / SOURCE.name
        shutil.copy(SOURCE, source)
        extension = Extension(MODULE, [str(source)], extra_compile_args=COMPILE)
        modules = cythonize([extension], build_dir=folder, quiet=True, language_level=3)
        command = build_ext(Distribution({"ext_modules": modules}))
        command.build_lib = command.build_temp = folder
        command.ensure_finalized()
        command.run()
        built = Path(command.get_ext_fullpath(MODULE))
        compiled = target / built.name
        waiting = compiled.with_suffix(".new")
        shutil.copy(built, waiting)
        waiting.replace(compiled)  # a process that has the old file open keeps it
    return compiled


class CustomBuildHook(BuildHookInterface[Any]):
    """Adds the compiled module to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile into a folder of its own, so that a build neither uses nor changes what lies beside the source."""
        wanted = os.environ.get("THRESHER_NATIVE", "")
        self._folder = tempfile.TemporaryDirectory()
        if self.target_name != "wheel" or version == "editable" or wanted == "0":
            return
        try:
            compiled = compile_loops(Path(self._folder.name))
        except (Exception, SystemExit) as error:  # setuptools ends the process where a compiler fails
            if wanted == "require":
                raise
            self.app.display_warning(f"Built without the compiled loops, so a crawl takes more processor time: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"][str(compiled)] = f"thresher/native/{compiled.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()


if __name__ == "__main__":
    print(f"compiled {compile_loops().relative_to(ROOT)}")
