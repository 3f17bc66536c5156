import numpy as np

from thresher.strategies.link_model.link_table import FIRST_ROWS, Columns


def table():
    return Columns({"one": ("f4", 1), "many": ("i4", 3)})


def test_rows_are_added_empty_and_counted():
    columns = table()
    assert columns.grow(2) == range(2)
    assert columns.grow(1) == range(2, 3)
    assert columns["one"].tolist() == [0, 0, 0]
    assert columns["many"].shape == (3, 3)


def test_a_table_grows_beyond_its_first_room_and_keeps_what_is_in_it():
    columns = table()
    columns.grow(1)
    columns["many"][0] = [1, 2, 3]
    columns.grow(3 * FIRST_ROWS)
    assert columns["many"][0].tolist() == [1, 2, 3]
    assert columns.size == 3 * FIRST_ROWS + 1


def test_some_rows_can_be_kept_and_new_ones_are_empty_again():
    columns = table()
    columns.grow(4)
    columns["one"][:] = [1, 2, 3, 4]
    columns.keep(np.array([1, 3]))
    assert columns["one"].tolist() == [2, 4]
    columns.grow(2)
    assert columns["one"].tolist() == [2, 4, 0, 0]
