"""A row of the table that is to be filled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from tests.faults.table import Outcome


@dataclass(frozen=True)
class Entry:
    """A row to be filled.

    Args:
        fault: What is done to the crawler.
        promise: What must hold all the same.
        function: Fills the row in its full form: ``module:function``.
        test: The test that runs its quick form.
    """

    name: str
    fault: str
    promise: str
    function: str
    test: str

    def measure(self) -> Outcome:
        """Run the full form."""
        module, _, name = self.function.partition(":")
        fill: Callable[[], Outcome] = getattr(import_module(module), name)
        return fill()
