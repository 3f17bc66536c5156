"""Planted faults in the scripts of the shared frontier."""

import pytest

from thresher.frontier.redis import scripts


@pytest.fixture
def plant(monkeypatch):
    """Replace a text of a script; a fault is the name of its file, the right text and the wrong one."""
    lua = scripts._lua

    def plant(fault):
        file, right, wrong = fault
        assert right in lua(f"{file}.lua")
        monkeypatch.setattr(
            scripts, "_lua", lambda name: lua(name).replace(right, wrong) if name == f"{file}.lua" else lua(name)
        )

    scripts.script.cache_clear()
    yield plant
    scripts.script.cache_clear()
