"""The demo needs no network and no extras, and ends with what to type next."""

import re


def test_the_demo_ends_with_three_harvests_a_path_and_what_comes_next(thresher):
    shown = thresher("demo", "--pages", 100, timeout=60)
    assert shown.returncode == 0, shown.stderr
    shares = dict(re.findall(r"^\s*([a-z-]+): \d+ of \d+ requests on topic \((0\.\d+)\)$", shown.stdout, re.MULTILINE))
    assert set(shares) == {"breadth-first", "best-first", "thresher"}
    assert " from a seed:" in shown.stdout
    assert "thresher new solar" in shown.stdout
