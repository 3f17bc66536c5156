"""All that commands print goes through one place, which lets nothing through that a terminal obeys."""

import re
from pathlib import Path

import thresher.cli
from thresher.cli.output import echo, echo_json, echo_table

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
