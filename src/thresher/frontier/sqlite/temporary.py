"""A frontier for one operation, such as the fetch of some seeds: its file is removed when it is closed."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from thresher.frontier.sqlite.frontier import SqliteFrontier


class TemporaryFrontier(SqliteFrontier):
    """A frontier in a temporary folder."""

    def __init__(self, *, delay_seconds: float = 0.0) -> None:
        self._folder = TemporaryDirectory(prefix="thresher-")
        super().__init__(Path(self._folder.name) / "frontier.sqlite", delay_seconds=delay_seconds)

    async def close(self) -> None:
        await super().close()
        self._folder.cleanup()
