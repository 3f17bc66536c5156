"""Pages that say nearly the same find each other."""

import random
import sqlite3
import subprocess
import sys

import pytest

from thresher.search.near_duplicates import NearDuplicateTables, signature, similarity

WORDS = [f"word{number}" for number in range(2_000)]


def text(seed, length=300):
    return random.Random(seed).choices(WORDS, k=length)


def edited(terms, every):
    return [f"new{place}" if place % every == 0 else term for place, term in enumerate(terms)]


@pytest.fixture
def groups():
    db = sqlite3.connect(":memory:")
    yield NearDuplicateTables(db)
    db.close()


def test_equal_texts_are_alike_and_others_are_not():
    assert similarity(signature(text(1)), signature(text(1))) == 1.0
    assert similarity(signature(text(1)), signature(text(2))) < 0.05


def test_the_likeness_of_two_texts_is_the_share_of_runs_that_they_have_in_common():
    both = {tuple(text(1)[place : place + 3]) for place in range(298)}
    other = {tuple(edited(text(1), 25)[place : place + 3]) for place in range(298)}
    share = len(both & other) / len(both | other)
    assert similarity(signature(text(1)), signature(edited(text(1), 25))) == pytest.approx(share, abs=0.15)


def test_signatures_are_the_same_in_every_process():
    script = (
        "from thresher.search.near_duplicates import signature; print(signature([str(n) for n in range(99)]).tolist())"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == str(signature([str(number) for number in range(99)]).tolist())


def test_a_long_text_is_sampled_and_still_finds_its_like(groups):
    groups.add(1, text(1, 30_000))
    assert groups.add(2, edited(text(1, 30_000), 30)) == 1


def test_a_page_joins_the_group_of_its_like(groups):
    assert groups.add(1, text(1)) == 1
    assert groups.add(2, text(2)) == 2
    assert groups.add(3, edited(text(1), 25)) == 1
    assert groups.group(3).members == (1, 3)


def test_half_a_text_in_common_is_not_enough(groups):
    groups.add(1, text(1))
    assert groups.add(2, [*text(1)[:150], *text(2)[:150]]) == 2


def test_short_texts_are_alike_only_when_they_are_equal(groups):
    groups.add(1, ["page", "not", "found"])
    assert groups.add(2, ["page", "not", "found"]) == 1
    assert groups.add(3, ["page", "was", "found"]) == 3


def test_a_text_without_terms_is_like_no_other(groups):
    groups.add(1, [])
    assert groups.add(2, []) == 2
    assert groups.group(1).members == (1,)


def test_a_page_that_changed_leaves_its_group(groups):
    groups.add(1, text(1))
    groups.add(2, text(1))
    assert groups.add(2, text(2)) == 2
    assert groups.group(1).members == (1,)


def test_when_the_first_of_a_group_leaves_the_others_stay_together_without_it(groups):
    for number in (1, 2, 3):
        groups.add(number, text(1))
    groups.add(1, text(2))
    assert groups.add(4, text(1)) == 2
    assert groups.group(3).members == (2, 3, 4)
    assert groups.group(1).members == (1,)


def test_any_signed_number_may_stand_for_a_page(groups):
    groups.add(-(1 << 63), text(1))
    assert groups.add((1 << 63) - 1, text(1)) == -(1 << 63)
