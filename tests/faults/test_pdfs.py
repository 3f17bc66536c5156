"""Malicious PDFs end neither a worker nor the crawl, and get no more time and memory than allowed."""

import json

from testing.malicious_pdfs import CASES
from tests.faults import pdfs


def test_every_file_is_read_or_refused_within_its_limits():
    found = pdfs.convert_all()
    assert len(CASES) >= 40
    assert len(found.read) + len(found.refused) == len(CASES), found.unfinished
    assert found.longest_seconds <= pdfs.SECONDS + pdfs.EXTRA_SECONDS + 1, found.slowest
    assert found.peak_mib <= pdfs.MAX_CHILD_MIB, found.largest
    assert {why for name, why in found.refused.items() if name.startswith("encrypted")} == {"PDF, encrypted"}


def test_a_crawl_keeps_the_good_files_and_settles_the_others():
    encrypted = [name for name in CASES if name.startswith("encrypted")]
    found = pdfs.crawl_files({*list(CASES)[::4], *encrypted})  # row H14 of the fault table crawls all of them
    assert found.exit_code == 0
    assert found.good == pdfs.GOOD_PDFS
    assert found.settled >= found.files + pdfs.GOOD_PDFS + 1  # robots.txt is a URL of the frontier too
    assert found.grown_mib <= pdfs.MAX_GROWTH_MIB
    assert found.most_mib <= pdfs.MAX_CHILD_MIB
    assert not [line for line in found.log.splitlines() if json.loads(line)["level"] != "info"]
    assert found.reasons["cannot be parsed: PDF, encrypted"] == len(encrypted)
