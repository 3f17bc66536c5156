"""Model files of strangers: they can neither run anything nor fill the memory."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.faults.outputs import Tally
from tests.faults.table import Outcome as Filled
from thresher.modelstate.codec import pack_arrays

MAX_GROWTH_MIB = 64

_SCRIPT = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from thresher_papers.judges.persistence.files import load
from thresher.errors import ThresherError
import sklearn, scipy.sparse
def peak():  # ru_maxrss would count what the parent process had
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
before = peak()
for place in sys.argv[1:]:
    try:
        load(Path(place))
        print("loaded", place)
    except ThresherError:
        print("refused", place)
    except BaseException as error:
        print("raised", place, type(error).__name__, error)
print("grew", (peak() - before) // 1024)
"""


class Trap:
    """Something that leaves a trace when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace

    def __reduce__(self) -> tuple[object, ...]:
        """Say what to run."""
        return os.mkdir, (str(self._trace),)


@dataclass
class ModelFiles(Tally):
    """What became of hostile model files: how many ran something, and how much memory they took."""

    executed: int = 0
    grown_mib: int = 0


def models(folder: Path) -> ModelFiles:
    """Load model folders that would run code, fill memory or read other files."""
    folder.mkdir(parents=True)
    trace, tally = folder / "trace", ModelFiles()
    places = {name: _model_folder(folder / name, files) for name, files in _hostile_models(trace)}
    places["manifest deep"] = folder / "deep"
    (folder / "deep").mkdir()
    (folder / "deep" / "manifest.json").write_text('{"format": 1, "model": ' + "[" * 100_000 + "]" * 100_000 + "}")
    command = [sys.executable, "-c", _SCRIPT, *map(str, places.values())]
    printed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout.splitlines()
    answers = {line.split(" ")[1]: line for line in printed}
    for name, place in places.items():
        answer = answers.get(str(place), "nothing")
        tally.count(answer.startswith("refused"), f"{name}: {answer}")
    tally.executed = int(trace.exists())
    tally.grown_mib = int(printed[-1].removeprefix("grew ")) if printed else 0
    return tally


def _hostile_models(trace: Path) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the arrays file and the vocabulary of each; checksums are made to fit."""
    vocabulary = b"{}"
    bad = pickle.dumps(Trap(trace))
    objects = io.BytesIO()
    np.savez(objects, trap=np.array([Trap(trace)], dtype=object))
    honest = pack_arrays({"a": np.ones(4)})
    yield "pickle", {"npz": bad, "json": vocabulary}
    yield "pickle-as-vocabulary", {"npz": honest, "json": bad}
    yield "npy-of-objects", {"npz": _npy(np.array([Trap(trace)], dtype=object)), "json": vocabulary}
    yield "npz-of-objects", {"npz": objects.getvalue(), "json": vocabulary}
    yield "pickle-in-npz", {"npz": _zip({"a.npy": bad}), "json": vocabulary}
    yield "joblib", {"npz": _joblib(trace), "json": vocabulary}
    yield "dimensions-10-GB", {"npz": _zip({"a.npy": _header("(10000000000,)")}), "json": vocabulary}
    yield "dimensions-wrap", {"npz": _zip({"a.npy": _header("(4294967296, 4294967296, 2)")}), "json": vocabulary}
    yield "dimensions-negative", {"npz": _zip({"a.npy": _header("(-1, 5)")}), "json": vocabulary}
    yield "record-type", {"npz": _zip({"a.npy": _header("(1,)", "[('x', '|O')]")}), "json": vocabulary}
    yield (
        "header-code",
        {"npz": _zip({"a.npy": _header(f"__import__('os').mkdir({str(trace)!r})")}), "json": vocabulary},
    )
    yield (
        "zip-bomb",
        {"npz": _zip({"a.npy": _header("(33554432,)") + bytes(1 << 28)}, packed=True), "json": vocabulary},
    )
    yield "path-inside", {"npz": _zip({"../../evil.txt": b"x", "/etc/evil.npy": b"y"}), "json": vocabulary}
    yield "nested-vocabulary", {"npz": honest, "json": b"[" * 200_000}
    yield "empty", {"npz": b"", "json": b""}
    yield "cut-off", {"npz": honest[:-40], "json": vocabulary}


def _model_folder(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir()
    names = {"npz": "arrays-0123456789abcdef.npz", "json": "vocabulary-0123456789abcdef.json"}
    for ending, content in files.items():
        (folder / names[ending]).write_bytes(content)
    sums = {names[ending]: sha256(content).hexdigest() for ending, content in files.items()}
    manifest = {"format": 1, "files": sums, "model": {"kind": "os.system", "parameters": {}}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def _npy(array: object) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def _zip(files: dict[str, bytes], *, packed: bool = False) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def _header(shape: str, kind: str = "'<f8'") -> bytes:
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _joblib(trace: Path) -> bytes:
    import joblib

    file = io.BytesIO()
    joblib.dump({"model": Trap(trace)}, file)
    return file.getvalue()


def d5() -> Filled:
    """Fill row D5."""
    with TemporaryDirectory() as folder:
        tally = models(Path(folder) / "models")
    refused = tally.cases - len(tally.broken)
    figure = f"{refused} of {tally.cases} refused; executed {tally.executed}; memory grew by {tally.grown_mib} MiB"
    return Filled(held=not tally.broken and not tally.executed and tally.grown_mib <= MAX_GROWTH_MIB, figure=figure)
