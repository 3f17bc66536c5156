"""All that commands print goes through one place, which lets nothing through that a terminal obeys."""

import re
from pathlib import Path

import click
from click.testing import CliRunner

import thresher.cli
from thresher.cli.output import echo, echo_json, echo_table, wide_option

FOLDER = Path(thresher.cli.__file__).parent


def test_no_command_prints_past_the_one_place():
    printing = re.compile(r"\bclick\.(?:echo|secho)\(|(?<![\w.])print\(|sys\.std(?:out|err)\.write\(")
    files = [path for path in FOLDER.glob("*.py") if printing.search(path.read_text(encoding="utf-8"))]
    assert sorted(path.name for path in files) == ["__init__.py", "output.py"]


def test_lines_tables_and_json_are_printable(capsys):
    echo("a\x1b[2J\nb")
    echo_table(["title"], [["c\x9b\u202ed"]])
    echo_json({"e": "f\x7f\u2028"})
    out = capsys.readouterr().out
    assert out.startswith("a�[2J b\n")
    assert "c��d" in out
    assert r'"f\u007f\u2028"' in out


def table_of_long_urls(*flags):
    @click.command()
    @wide_option
    def listed():
        echo_table(["score", "url", "found on"], [(0.25, f"http://a.example/{'x' * 300}", "http://b.example/" * 9)])

    return CliRunner().invoke(listed, flags).output.splitlines()


def test_a_table_in_a_pipe_has_at_most_120_columns_and_loses_nothing():
    lines = table_of_long_urls()
    assert max(map(len, lines)) <= 120
    assert "".join(lines).count("x") == 310  # ten of them in "example"


def test_a_wide_table_has_each_row_in_one_line():
    lines = table_of_long_urls("--wide")
    assert len(lines) == 2
    assert "x" * 300 in lines[1]
