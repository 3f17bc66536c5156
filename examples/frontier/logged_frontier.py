"""A frontier of one's own: an example that changes one step of the frontier in a file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.records import Settlement


class LoggedFrontier(SqliteFrontier):
    """A frontier in a file that also appends each settled URL to a log, as JSON lines.

    A line is written after its commit. So a crash may lose lines, but no line is about a URL that was not settled.

    Args:
        path: The file; the log lies beside it.
        settings: Those of `SqliteFrontier`.
    """

    def __init__(self, path: Path, **settings: Any) -> None:
        super().__init__(path, **settings)
        self._log = path.with_suffix(".jsonl").open("a", encoding="utf-8", buffering=1)

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        held = await super().commit(settlements)
        for settlement, was_held in zip(settlements, held, strict=True):
            if was_held:  # a worker that came too late settled nothing
                line = {"url": settlement.lease.url, "outcome": settlement.outcome, "page": settlement.page}
                self._log.write(json.dumps(line) + "\n")
        return held

    async def close(self) -> None:
        self._log.close()
        await super().close()
