"""Marks of axes are round numbers, and few; values lie where their marks say."""

import pytest

from thresher.charts.svg import MARKS, Frame, Paper, axes, round_marks, round_step

PAPER = Paper(width=100, height=50, left=20, right=10, top=5, bottom=15)


@pytest.mark.parametrize(("end", "step"), [(6, 1), (7, 2), (100, 20), (1_000_000, 200_000), (0.5, 0.1)])
def test_marks_are_round(end, step):
    assert round_step(end) == pytest.approx(step)


@pytest.mark.parametrize("end", [1, 2, 7, 99, 500, 12_345, 10**9])
def test_an_axis_has_few_marks_from_zero_to_near_its_end(end):
    marks = round_marks(end)
    assert marks[0] == 0
    assert end - round_step(end, least=1.0) < marks[-1] <= end
    assert len(marks) <= MARKS + 1


def test_steps_are_not_below_the_least():
    assert round_marks(0.03, least=0.01) == pytest.approx([0, 0.01, 0.02, 0.03])


def test_values_are_placed_between_the_edges():
    frame = Frame(PAPER, x_end=10, y_end=4)
    assert (frame.x(0), frame.x(10)) == (20, 90)
    assert (frame.y(0), frame.y(4)) == (35, 5)
    assert frame.points([(0, 0), (10, 4)]) == "20.0,35.0 90.0,5.0"


def test_a_mark_stands_beside_its_line_of_the_grid():
    parts = axes(Frame(PAPER, x_end=10, y_end=4), [(5, "five")], [(4, "four")], x_title="across", y_title="up")
    assert '<line x1="20" x2="90" y1="5" y2="5" class="grid"></line>' in parts
    assert '<text x="14" y="9" text-anchor="end">four</text>' in parts
    assert '<text x="55" y="51" text-anchor="middle">five</text>' in parts
