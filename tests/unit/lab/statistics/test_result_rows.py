"""Rows are added to a file, one per line, and what a crash cut short harms no other row."""

from thresher_lab.statistics.result_rows import add_rows, read_rows


def test_rows_come_back_in_their_order(tmp_path):
    path = tmp_path / "new" / "rows.jsonl"
    add_rows(path, [{"a": 1}, {"b": "茶"}])
    add_rows(path, [{"c": None}])
    assert read_rows(path) == [{"a": 1}, {"b": "茶"}, {"c": None}]


def test_a_file_that_is_not_there_has_no_rows(tmp_path):
    assert read_rows(tmp_path / "rows.jsonl") == []


def test_a_line_that_a_crash_cut_short_swallows_no_other(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"b": 2')
    add_rows(path, [{"c": 3}])
    assert read_rows(path) == [{"a": 1}, {"c": 3}]
