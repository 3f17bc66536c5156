"""What strangers write can neither run, nor fill memory, nor speak to the terminal, nor leave the crawl's folder."""

from tests.faults import model_files, outputs


def test_no_command_lets_page_text_speak_to_the_terminal(tmp_path):
    tally = outputs.terminal(tmp_path / "crawl", number=50)
    assert tally.broken == []
    assert tally.cases > 250


def test_no_cell_is_a_formula_and_raw_cells_are_as_they_came():
    tally = outputs.cells()
    assert tally.broken == []


def test_hostile_model_files_are_refused_and_nothing_runs(tmp_path):
    tally = model_files.models(tmp_path / "models")
    assert tally.broken == []
    assert tally.executed == 0
    assert tally.grown_mib <= model_files.MAX_GROWTH_MIB


def test_hostile_topic_files_are_refused_with_their_line(tmp_path):
    assert outputs.topics(tmp_path / "topics").broken == []


def test_no_name_leads_out_of_the_folder(tmp_path):
    tally = outputs.names(tmp_path / "names")
    assert tally.broken == []
    assert tally.cases > 100
