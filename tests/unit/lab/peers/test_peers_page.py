"""The page on peers names every one of them, with its file and its real parameters, and tells of its source."""

import json
import re
from pathlib import Path

import pytest

from thresher import registry
from thresher_lab.peers import peers

PEERS = peers()
PAGE = (Path(__file__).parents[4] / "docs" / "measurements" / "peers.md").read_text(encoding="utf-8")
ROWS = {cells[0].strip("`"): cells for row in re.findall(r"^\| `.*\|$", PAGE, flags=re.MULTILINE)
        if len(cells := [cell.strip() for cell in row.strip("|").split(" | ")]) == 5}  # fmt: skip
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))


def parameters_cell(name):
    found = registry.parameters_of(registry.find("strategy", name))
    written = {key: value if isinstance(value, str) else json.dumps(value) for key, value in found.items()}
    return ", ".join(f"`{key}: {value}`" for key, value in written.items())


def test_no_other_peers_are_listed():
    assert set(ROWS) == set(PEERS)


@pytest.mark.parametrize("name", PEERS)
def test_each_peer_is_listed_with_its_file_and_its_parameters(name):
    _, file, parameters, *_ = ROWS[name]
    module = PEERS[name].partition(":")[0].replace(".", "/")
    assert file == f"[{module}.py](../../src/{module}.py)"
    assert parameters == parameters_cell(name)


@pytest.mark.parametrize("name", PEERS)
def test_each_peer_says_where_it_is_from_what_is_faithful_and_what_differs(name):
    assert all(f"**{word}.**" in SECTIONS[name] for word in ("Source", "Faithful", "Differs"))
