"""Trained models on disk: JSON and numeric arrays, nothing executable.

    model/
    ├── manifest.json                  kind, numbers, versions, training data, scores
    ├── arrays-3f0c….npz               named by content hash
    └── vocabulary-81ab….json

The manifest lists its files with their checksums. It is written last, by an atomic rename, so a crash leaves the old
model or the new one, never a mixture. Files that the manifest does not list are removed by the next save.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from thresher.errors import ThresherError
from thresher.modelstate.codec import BadArrays, pack_arrays, unpack_arrays
from thresher_papers.judges.persistence.codec import decode, encode
from thresher_papers.judges.persistence.scorer import PlainScorer

FORMAT = 1
"""Increased when older versions can no longer read the files."""

MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 1 << 24
MAX_FILE_BYTES = 1 << 30

_FILE_NAME = re.compile(r"(arrays|vocabulary)-[0-9a-f]{16}\.(npz|json)")
_LIBRARIES = ("thresher", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True, kw_only=True)
class Training:
    """Training data and scores of a model.

    Args:
        examples: Number of training pages.
        data_hash: Their hash, to check later whether they are the same.
        scores: Measures on held-out pages, by name.
    """

    examples: int = 0
    data_hash: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)


def save(scorer: PlainScorer, folder: Path, training: Training | None = None, *, now: datetime | None = None) -> None:
    """Write a trained model into a folder, replacing the previous one; one writer at a time.

    Raises:
        ThresherError: The model cannot be saved.
    """
    node, arrays, terms = encode(scorer)
    contents = {
        _named("arrays", "npz", packed_arrays := pack_arrays(arrays)): packed_arrays,
        _named("vocabulary", "json", packed_terms := _json(terms)): packed_terms,
    }
    manifest = {
        "format": FORMAT,
        "created": (now or datetime.now(UTC)).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_versions()},
        "training": asdict(training or Training()),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
        "model": node,
    }
    packed = _json(manifest)  # before anything is written: a number may not be valid JSON
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        _write(folder / name, content)
    _write(folder / MANIFEST, packed)
    _remove_unlisted(folder, keep=contents)


def load(folder: Path) -> PlainScorer:
    """Read and validate a model; nothing in it is executed.

    Raises:
        ThresherError: There is no model, or it is damaged, of another kind, or newer than this program.
    """
    try:
        manifest = read_manifest(folder)
        files = _checked_files(folder, manifest)
        return decode(manifest.get("model"), _unpack(files["arrays"]), _terms(files["vocabulary"]))
    except (ThresherError, RecursionError) as error:
        raise ThresherError(f"the model in {folder} cannot be used: {error}; train it again") from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a model: its kind, versions, training and scores.

    Raises:
        ThresherError: There is none, or it is damaged or newer than this program.
    """
    try:
        with (folder / MANIFEST).open("rb") as file:
            manifest = json.loads(file.read(MAX_MANIFEST_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise ThresherError(f"its {MANIFEST} cannot be read: {error}") from error
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if not isinstance(found, int) or found < 1:
        raise ThresherError(f"its {MANIFEST} is not the manifest of a model")
    if found > FORMAT:
        raise ThresherError(f"it was written by a newer Thresher (format {found}; this one reads up to {FORMAT})")
    checked: dict[str, Any] = manifest
    return checked


def _checked_files(folder: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    files = manifest.get("files")
    found: dict[str, bytes] = {}
    for name, checksum in (files if isinstance(files, dict) else {}).items():
        match = _FILE_NAME.fullmatch(name)
        if not match:
            raise ThresherError(f"it names a file that is not its own: {name!r}")
        try:
            content = _read(folder / name)
        except OSError as error:
            raise ThresherError(f"its file {name} cannot be read: {error}") from error
        if hashlib.sha256(content).hexdigest() != checksum:
            raise ThresherError(f"its file {name} is damaged: its checksum does not match")
        found[match[1]] = content
    if found.keys() != {"arrays", "vocabulary"}:
        raise ThresherError("it does not name its arrays and its vocabulary")
    return found


def _read(path: Path) -> bytes:
    """Read a regular file of bounded size; a device or a pipe is refused."""
    if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
        raise OSError(f"not a regular file of at most {MAX_FILE_BYTES >> 20:,} MiB")
    return path.read_bytes()


def _unpack(packed: bytes) -> dict[str, Any]:
    try:
        return unpack_arrays(packed)
    except BadArrays as error:
        raise ThresherError(f"its arrays cannot be read: {error}") from error


def _terms(packed: bytes) -> dict[str, list[str]]:
    try:
        terms = json.loads(packed)
    except (ValueError, RecursionError) as error:
        raise ThresherError(f"its vocabulary cannot be read: {error}") from error
    if not isinstance(terms, dict) or not all(_are_terms(value) for value in terms.values()):
        raise ThresherError("its vocabulary is damaged: every list must hold each term once")
    return terms


def _are_terms(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(term, str) for term in value) and len(set(value)) == len(value)


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1).encode()
    except (TypeError, ValueError) as error:
        raise ThresherError(f"the model has a value that cannot be saved: {error}") from error


def _named(stem: str, ending: str, content: bytes) -> str:
    return f"{stem}-{hashlib.sha256(content).hexdigest()[:16]}.{ending}"


def _versions() -> dict[str, str]:
    found = {}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = ""
    return found


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically and durably (temporary file, fsync, rename)."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove_unlisted(folder: Path, keep: Mapping[str, bytes]) -> None:
    for path in folder.iterdir():
        name = path.name.removeprefix(".")
        if path.name not in keep and _FILE_NAME.match(name):
            path.unlink(missing_ok=True)
