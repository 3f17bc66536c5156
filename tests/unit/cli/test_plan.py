"""thresher plan prints the upper bound first, and what limits the crawl."""

import json

import pytest
from click.testing import CliRunner

from thresher.cli import thresher

BILLION = ("plan", "--pages", "1e9", "--hosts", "5e6", "--delay", "2")


def run(*arguments):
    return CliRunner().invoke(thresher, arguments)


def test_the_upper_bound_comes_first():
    first = run(*BILLION).stdout.splitlines()[0]
    assert first == "Upper bound: pages per second ≤ ready hosts ÷ delay = 5,000,000 ÷ 2 s = 2,500,000."


def test_few_hosts_are_named_as_the_limit():
    printed = run("plan", "--pages", "1e8", "--hosts", "20", "--delay", "2").stdout
    assert "Limit: the hosts. The request is not met; more hosts or a shorter delay would help." in printed
    assert "Speed: 10 pages per second" in printed


def test_a_request_that_is_met_needs_no_help():
    printed = run("plan", "--pages", "1e6", "--hosts", "1e4", "--delay", "2").stdout
    assert "Limit: the workers. The request is met; more workers would be faster." in printed
    assert "would help" not in printed


def test_json_writes_no_limit_as_null():
    [plan] = json.loads(run("plan", "--pages", "1000", "--hosts", "10", "--delay", "0", "--json").stdout)["plans"]
    assert plan["ceilings"]["hosts"] is None
    assert plan["request"]["pages"] == 1000


def test_the_flags_reach_the_arithmetic():
    flags = ("--worker-pages-per-second", "1000", "--waiting", "1e8", "--price-core", "7", "--json")
    [plan] = json.loads(run(*BILLION, *flags).stdout)["plans"]
    assert plan["workers"] == 1
    assert plan["request"]["waiting"] == 10**8
    assert plan["request"]["prices"]["core"] == 7


def test_the_table_goes_from_ten_thousand_to_a_billion_pages():
    rows = run(*BILLION, "--table").stdout.splitlines()
    assert [row.split()[0] for row in rows[1:]] == [f"{10**power:,}" for power in range(4, 10)]


def test_the_constants_name_their_commands():
    assert "python -m bench.stores.store" in run(*BILLION, "--constants").stdout


@pytest.mark.parametrize("pages", ["0", "1.5", "many", "-1e9", "nan", "inf"])
def test_a_number_of_pages_that_is_none_is_refused(pages):
    printed = run("plan", "--pages", pages, "--hosts", "10", "--delay", "1")
    assert printed.exit_code == 2
    assert "--pages" in printed.stderr
