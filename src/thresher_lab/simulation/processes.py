"""Many crawls over several processes, each of them with one web open at a time."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import groupby
from typing import Any, TypeVar

from thresher_lab.statistics.result_rows import Row

Task = TypeVar("Task")


def run_groups(
    tasks: Iterable[Task],
    run: Callable[[Sequence[Task]], Iterable[Row]],
    *,
    place: Callable[[Task], Any],
    processes: int,
) -> Iterator[Row]:
    """Run tasks with the same key together, and yield their rows as they are done.

    Args:
        run: Runs tasks with one key; a module-level function, so that other processes can import it.
        place: The key that tasks share, such as a web, a topic and seeds.
        processes: How many at a time; one is this process.
    """
    groups = [list(group) for _, group in groupby(sorted(tasks, key=place), key=place)]
    if processes == 1 or len(groups) <= 1:
        for group in groups:
            yield from run(group)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(_all_rows, run, group) for group in groups]):
                yield from future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # else Ctrl-C would wait for all remaining tasks
            raise


def _all_rows(run: Callable[[Sequence[Task]], Iterable[Row]], group: Sequence[Task]) -> list[Row]:
    return list(run(group))
