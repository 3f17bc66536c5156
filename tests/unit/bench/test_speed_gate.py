"""What a page costs may not creep up: counted in calls, which no busy machine changes, and beside bare Scrapy.

The bounds are those of the day, with room for chance and for changes that are worth it; anyone who raises one says why.
"""

import cProfile
import json
import pstats
import time

import pytest

from bench.speed.instructions import bare_scrapy
from bench.speed.one_page import OnePage, bodies, chinese_bodies
from thresher.native import compiled

PAGES = 60
CALLS = {
    True: {"parse": 1_083, "judge": 626, "score": 5_551, "archive": 249},
    False: {"parse": 4_718, "judge": 785, "score": 7_203, "archive": 249},
}
"""Calls of functions, Python's own included, per page of 60 links, by stage; with compiled loops and without."""
MARGIN = 1.1
"""How much more expensive a stage may become."""
MAX_LINKS_RATIO = 2.3
"""CPU of parsing, judging, scoring and writing a page, against what bare Scrapy spends on finding its links alone."""
MAX_ENGLISH_RATIO = 2.7
"""The same of a Chinese page of as many bytes: it has several times as many different terms, since these are pairs."""
ROUNDS = 5
"""What is compared is measured right after each other; one round of these within the bound is enough: other processes
slow rounds down, nothing speeds them up."""


@pytest.fixture(scope="module")
def pages():
    return bodies(PAGES)


def test_no_stage_calls_more_functions_than_it_did(tmp_path, pages):
    with OnePage(tmp_path) as one:
        profiles = {name: cProfile.Profile() for name in one.stages()}
        for page in pages:
            for name, stage in one.stages().items():
                profiles[name].runcall(stage, *page)
    calls = {name: round(pstats.Stats(profile).total_calls / PAGES) for name, profile in profiles.items()}
    print(json.dumps(calls))
    allowed = {name: MARGIN * number for name, number in CALLS[compiled is not None].items()}
    assert {name: number for name, number in calls.items() if number > allowed[name]} == {}


def test_a_page_costs_little_more_than_its_links_alone_cost_bare_scrapy(tmp_path, pages):
    ratios = (seconds_of_ours(tmp_path / str(number), pages) / seconds(pages, bare_scrapy) for number in range(ROUNDS))
    assert_once_below(ratios, MAX_LINKS_RATIO)


def test_a_chinese_page_costs_hardly_more_than_twice_an_english_one(tmp_path, pages):
    chinese = chinese_bodies(PAGES)
    ratios = (
        seconds_of_ours(tmp_path / f"zh{number}", chinese) / seconds_of_ours(tmp_path / f"en{number}", pages)
        for number in range(ROUNDS)
    )
    assert_once_below(ratios, MAX_ENGLISH_RATIO)


def assert_once_below(ratios, bound):
    measured = []
    for ratio in ratios:
        measured.append(f"{ratio:.2f}")
        if ratio < bound:
            print(" ".join(measured))
            return
    pytest.fail(f"never below {bound}: {' '.join(measured)}")


def seconds_of_ours(folder, pages):
    folder.mkdir()
    with OnePage(folder) as one:
        return seconds(pages, *one.stages().values())


def seconds(pages, *stages):
    started = time.thread_time()
    for page in pages:
        for stage in stages:
            stage(*page)
    return time.thread_time() - started
