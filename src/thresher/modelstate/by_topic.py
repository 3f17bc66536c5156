"""The state of several learners of the same kind, one per topic, in one state store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class _Entries(Protocol):
    @property
    def write_seconds(self) -> float: ...

    def write(self, kind: str, content: bytes) -> None: ...

    def read(self, kind: str) -> bytes | None: ...

    def read_others(self, kind: str) -> Sequence[bytes]: ...


class TopicState:
    """The entries of one topic: their kinds end with its name.

    Args:
        state_store: The store of all topics.
        topic: The name of the topic.
    """

    def __init__(self, state_store: _Entries, topic: str) -> None:
        self._state_store = state_store
        self._topic = topic
        self.write_seconds = state_store.write_seconds

    def write(self, kind: str, content: bytes) -> None:
        self._state_store.write(self._kind(kind), content)

    def read(self, kind: str) -> bytes | None:
        return self._state_store.read(self._kind(kind))

    def read_others(self, kind: str) -> Sequence[bytes]:
        return self._state_store.read_others(self._kind(kind))

    def _kind(self, kind: str) -> str:
        return f"{kind}@{self._topic}"
