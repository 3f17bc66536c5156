"""One crawl of an experiment: a task of the lab, and what is measured of it beside the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from thresher.lab.tasks import Task

TIME = "time"
"""Measure what a page costs: pages are parsed anew, as a crawl would."""
RANKING = "ranking"
"""Measure how well the fetched pages are ranked by the trained layers."""
CLASSES = "classes"
"""Judge by a classifier of all topics, which also knows the rules between them, and keep every page and its score."""


@dataclass(frozen=True, kw_only=True)
class Trial(Task):
    """A crawl of an experiment.

    Args:
        target_depth: The targets of recall lie at most so many links from the seeds; 0 is any number.
        examples: Pages of the topic that tell what it is about; they are neither hits nor fetches.
        measure: What is measured beside the rest: nothing more, ``time``, ``ranking`` or ``classes``.
    """

    target_depth: int = 0
    examples: int = 0
    measure: str = ""

    @property
    def key(self) -> str:
        """What tells a trial from all others; a row carries the same fields."""
        return trial_key(asdict(self))

    @property
    def group(self) -> tuple[str, str, int]:
        """What trials share that are run one after another: web, topic and seeds."""
        return self.web, self.topic, self.seed_set

    @classmethod
    def of(cls, task: Task) -> Trial:
        """Make a trial of a task; one that is a trial already stays as it is."""
        return task if isinstance(task, cls) else cls(**asdict(task))


def trial_key(row: Mapping[str, Any]) -> str:
    """Return what tells the trial of a row from all others."""
    return json.dumps({field.name: row.get(field.name) for field in fields(Trial)}, sort_keys=True, ensure_ascii=False)
