"""Types of the compiled walk."""

from collections.abc import Mapping, Set
from typing import Any

class NotSupported(Exception): ...

def probe(mem_ids: list[int], text: str) -> list[int] | None: ...
def prepare(
    kind_of: Mapping[int, int],
    inline: Set[int],
    names: Mapping[int, str],
    tags: tuple[int, int],
    attributes: list[int],
    classes: tuple[type[Any], type[Any]],
    limits: tuple[int, int],
) -> None: ...
def walk(root_id: int, found: Any, other_targets: dict[int, str]) -> list[int]: ...
