"""Tasks that share something are run in one go, by this process or by others."""

import os

import pytest

from thresher_lab.simulation.processes import run_groups

TASKS = ["tea 1", "sun 1", "tea 2", "sun 2"]


def place(task):
    return task.partition(" ")[0]


def run(group):
    return [{"task": task, "beside": len(group), "process": os.getpid()} for task in group]


@pytest.mark.parametrize("processes", [1, 2])
def test_each_place_is_run_once_with_all_its_tasks(processes):
    rows = list(run_groups(TASKS, run, place=place, processes=processes))
    assert sorted(row["task"] for row in rows) == sorted(TASKS)
    assert {row["beside"] for row in rows} == {2}
    assert (os.getpid() in {row["process"] for row in rows}) == (processes == 1)
