"""Strategies and judges are listed in the same way, each with what only its kind has."""

import json

import pytest
from click.testing import CliRunner

from thresher.cli import thresher
from thresher.errors import UnknownName


def run(*arguments):
    return CliRunner().invoke(thresher, arguments, catch_exceptions=False).output


@pytest.mark.parametrize(("command", "name"), [("strategies", "best-first"), ("judges", "cosine")])
def test_all_of_a_kind_are_listed(command, name):
    listed = run(command)
    assert listed.split()[0] == "name"
    assert name in listed


def test_a_strategy_says_how_it_merges():
    assert "A URL found again: max of its scores" in run("strategies", "best-first")
    assert json.loads(run("strategies", "breadth-first", "--json"))[0]["merge"] == "first"


def test_a_judge_is_listed_with_whether_it_learns_and_its_options():
    described = run("judges", "cosine")
    assert "Does not learn from the crawl" in described
    assert "threshold: 0.1" in described
    assert json.loads(run("judges", "cosine", "--json"))[0]["learns"] is False


@pytest.mark.parametrize("command", ["strategies", "judges"])
def test_an_unknown_name_is_an_error(command):
    with pytest.raises(UnknownName):
        run(command, "nobody")
