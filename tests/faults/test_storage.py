"""Object storage that fails while a crawl uses it costs no page; the fault table has the long forms."""

from tests.faults.storage import TROUBLES, cold_damaged, cut_off, killed_moves, killed_uploads, restored


def test_a_run_that_was_killed_during_an_upload_loses_no_page():
    ended = killed_uploads("folder", 1)
    assert ended.held, ended


def test_a_run_without_its_storage_says_so_and_the_next_one_uploads_everything():
    ended = cut_off(*TROUBLES["absent"])
    assert ended.troubles, ended.words
    assert ended.held, ended


def test_a_restored_folder_uploads_all_its_pages():
    ended = restored()
    assert ended.held, ended


def test_a_run_that_was_killed_while_it_moved_urls_loses_none():
    ended = killed_moves(1)
    assert ended.held, ended


def test_damaged_and_missing_files_of_cold_urls_neither_end_a_run_nor_lose_a_page():
    code, ended = cold_damaged()
    assert ended.troubles >= 2
    assert code == 0
    assert ended.held, ended
