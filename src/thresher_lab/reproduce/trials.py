"""One crawl of an experiment: a task of the lab with additional measures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from thresher_lab.simulation.tasks import Task

TIME = "time"
"""Measure what a page costs: pages are parsed again, as in a crawl."""
RANKING = "ranking"
"""Measure how well the fetched pages are ranked by the trained layers."""
CLASSES = "classes"
"""Judge by a classifier of all topics, which also knows the rules between them, and keep every page and its score."""


@dataclass(frozen=True, kw_only=True)
class Trial(Task):
    """A crawl of an experiment.

    Args:
        target_depth: Most links between the seeds and the targets of recall; 0 is any number.
        examples: Pages of the topic that describe it; they are neither hits nor fetches.
        measure: Additional measure: none, ``time``, ``ranking`` or ``classes``.
    """

    target_depth: int = 0
    examples: int = 0
    measure: str = ""

    @property
    def key(self) -> str:
        """The identity of a trial; a row has the same fields."""
        return trial_key(asdict(self))

    @property
    def group(self) -> tuple[str, str, int]:
        """The key of trials that run one after another: web, topic and seeds."""
        return self.web, self.topic, self.seed_set

    @classmethod
    def of(cls, task: Task) -> Trial:
        """Make a trial from a task; a trial is returned unchanged."""
        return task if isinstance(task, cls) else cls(**asdict(task))


def trial_key(row: Mapping[str, Any]) -> str:
    """Return the identity of the trial of a row."""
    return json.dumps({field.name: row.get(field.name) for field in fields(Trial)}, sort_keys=True, ensure_ascii=False)
