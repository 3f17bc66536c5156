"""Compile the modules of ``thresher.native``: as a build hook of hatchling, or in place with ``python hatch_build.py``.

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
SOURCES = ROOT / "src" / "thresher" / "native"
MODULES = ("loops", "tree")
COMPILE = ["-O3", "-ffp-contract=off", "-g0"]


def compile_modules(target: Path = SOURCES) -> list[Path]:
    """Compile the modules into a folder; return their paths."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    with tempfile.TemporaryDirectory() as folder:
        extensions = []
        for name in MODULES:
            source = shutil.copy(SOURCES / f"{name}.pyx", folder)
            extensions.append(Extension(f"thresher.native.{name}", [source], extra_compile_args=COMPILE))
        modules = cythonize(extensions, build_dir=folder, quiet=True, language_level=3)
        command = build_ext(Distribution({"ext_modules": modules}))
        command.build_lib = command.build_temp = folder
        command.parallel = len(MODULES)
        command.ensure_finalized()
        command.run()
        return [_moved(Path(command.get_ext_fullpath(extension.name)), target) for extension in extensions]


def _moved(built: Path, target: Path) -> Path:
    """Replace a module in a folder; a process that has the old file open keeps it."""
    waiting = Path(shutil.copy(built, target / f"{built.name}.new"))
    return waiting.replace(target / built.name)


class CustomBuildHook(BuildHookInterface[Any]):
    """Adds the compiled module to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile into a folder of its own, so that a build neither uses nor changes what lies beside the sources."""
        wanted = os.environ.get("THRESHER_NATIVE", "")
        self._folder = tempfile.TemporaryDirectory()
        if self.target_name != "wheel" or version == "editable" or wanted == "0":
            return
        try:
            compiled = compile_modules(Path(self._folder.name))
        except (Exception, SystemExit) as error:  # setuptools ends the process where a compiler fails
            if wanted == "require":
                raise
            self.app.display_warning(f"Built without the compiled loops, so a crawl takes more processor time: {error}")
            return
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"].update({str(path): f"thresher/native/{path.name}" for path in compiled})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()


if __name__ == "__main__":
    print(*(f"compiled {path.relative_to(ROOT)}" for path in compile_modules()), sep="\n")
