import re

from tests.consistency.rows import FOLDER, ROWS, checks_of


def test_a_test_that_is_named_after_a_row_is_named_after_a_known_one():
    texts = (path.read_text(encoding="utf-8") for path in FOLDER.glob("test_*.py"))
    named = {row.upper() for text in texts for row in re.findall(r"def test_([ua]\d+)_", text)}
    assert named <= ROWS.keys()


def test_every_row_has_a_test():
    assert [row for row in ROWS if not checks_of(row)] == []
