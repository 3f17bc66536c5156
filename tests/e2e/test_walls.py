"""A crawl of a web with PDFs and walls loses no PDF and judges no wall; `bench.collection.walls` has the full size."""

from bench.collection.walls import ORDINARY, WalledWeb, measure, report
from thresher.records import BlockKind

WALLS = {BlockKind.CHALLENGE: 2, BlockKind.CONSENT: 2, BlockKind.LOGIN: 1}


def test_no_wall_is_judged_and_no_pdf_is_lost(tmp_path):
    web = WalledWeb(pdfs=10, walls=WALLS)
    found = measure(web, tmp_path / "crawl", max_seconds=60)
    assert found.walls_requested == found.walls_blocked == WALLS
    assert (found.walls_relevant, found.walls_learned) == (0, 0)
    assert (found.pdfs_requested, found.pdfs_stored, found.pdfs_repeated) == (10, 10, 0)
    assert found.pages == 2 * (ORDINARY + 1)
    assert "PDFs lost: 0; requested twice: 0; with a wrong verdict: 0." in report(web, found)
