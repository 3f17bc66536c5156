"""Scripts as plain data: JSON for another process, or a Python file that says ``SCRIPT = {…}``."""

from __future__ import annotations

import base64
import json
import runpy
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from testing.recording_server.script import Answer, Fill, Generated, Packed, Script

KINDS = {"answer": Answer, "fill": Fill, "packed": Packed, "generated": Generated}
_NAMES = {kind: name for name, kind in KINDS.items()}


def to_data(value: Any) -> Any:
    """Return a value of a script as JSON can hold it; an answer becomes ``{"answer": {…}}`` with what it says."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if type(value) in _NAMES:
        printed = {each.name: getattr(value, each.name) for each in fields(value)}
        plain = {name: to_data(part) for name, part in printed.items() if _is_news(value, name, part)}
        return {_NAMES[type(value)]: plain}
    if isinstance(value, Mapping):
        return {name: to_data(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_data(part) for part in value]
    return value


def from_data(value: Any) -> Any:
    """Return what `to_data` was given."""
    if isinstance(value, list):
        return [from_data(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(name, part)] = value.items()
        if name == "base64":
            return base64.b64decode(part)
        if name in KINDS:
            return KINDS[name](**{key: from_data(each) for key, each in part.items()})
    return {name: from_data(part) for name, part in value.items()}


def write_script(script: Script, path: Path) -> None:
    """Write a script as JSON."""
    path.write_text(json.dumps(to_data(script)), encoding="utf-8")


def read_script(path: Path) -> Script:
    """Read a script from a .json or a .py file."""
    is_code = path.suffix == ".py"
    script: Script = runpy.run_path(str(path))["SCRIPT"] if is_code else from_data(json.loads(path.read_text("utf-8")))
    return script


def _is_news(owner: Any, name: str, value: Any) -> bool:
    [default] = [each.default for each in fields(owner) if each.name == name]
    return value is not default
