"""The terminal picture of the README shows commands that parse, marks what it leaves out, and loads nothing."""

import re
from html import unescape

from bench.crawl_picture import PICTURE, Terminal, _shorter


def test_the_picture_holds_the_three_commands_and_loads_nothing():
    drawn = PICTURE.read_text(encoding="utf-8")
    text = unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn))).replace("\xa0", " ")
    assert all(f"thresher {name} music" in text for name in ("new", "run", "why"))
    assert not re.search(r"@import|@font-face|url\((?!#)|<script|href=", drawn)


def test_progress_lines_that_are_left_out_are_marked():
    lines = [f"{number} pages · 2.0 pages/s" for number in range(9)]
    assert _shorter([*lines, "Stopped."]) == ["…", *lines[-3:], "Stopped."]
    assert _shorter([*lines[:3], "Stopped."]) == [*lines[:3], "Stopped."]


def test_output_is_drawn_as_text(tmp_path):
    terminal = Terminal(tmp_path)
    terminal.show("thresher why music URL", ["Relevant: <b>[red]relevance 0.64[/red]</b>"])
    terminal.write(tmp_path / "picture.svg")
    drawn = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert "&lt;b&gt;[red]" in drawn.replace("&#160;", " ")
