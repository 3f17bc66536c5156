"""Paths are written one way, and say their language."""

import pytest

from thresher.topics.taxonomy.paths import MAX_LEVELS, clean_path, default_label, levels_of, path_language


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Top/Sports/Basketball", "Sports/Basketball"),
        ("/Sports//Basketball/", "Sports/Basketball"),
        (" Sports / Water  polo ", "Sports/Water polo"),
        ("Top", ""),
        ("", ""),
        ("Sports\x1b[31m/\u202eTennis", "Sports [31m/Tennis"),
    ],
)
def test_a_path_is_written_without_root_and_rubbish(text, path):
    assert clean_path(text) == path


def test_a_path_of_endless_levels_is_none():
    assert clean_path("a/" * (MAX_LEVELS + 1)) == ""


def test_an_underscore_reads_as_a_blank():
    assert default_label("Sports/Water_Sports") == "Water Sports"


def test_a_language_is_found_by_branch_or_script():
    assert path_language("World/Chinese_Simplified/NBA") == "zh"
    assert path_language("World/Deutsch/Sport") == "de"
    assert path_language("World/News") == "en"
    assert path_language("体育/篮球") == "zh"


def test_the_names_of_a_language_branch_are_no_levels():
    assert levels_of("World/Chinese_Simplified/体育/篮球") == [
        "World/Chinese_Simplified/体育",
        "World/Chinese_Simplified/体育/篮球",
    ]
    assert levels_of("World/Chinese_Simplified") == ["World", "World/Chinese_Simplified"]
    assert levels_of("Sports/Basketball/NBA") == ["Sports", "Sports/Basketball", "Sports/Basketball/NBA"]
