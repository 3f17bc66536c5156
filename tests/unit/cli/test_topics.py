"""The commands about topics, as a shell runs them."""

import json
import subprocess
import sys

import pytest

MINE = """
Sports 体育:
  description: Games and those who play them.
  children:
    - Basketball 篮球:
        examples:
          - {url: "http://hoops.example/", title: "Hoops\\e[31m", description: All about hoops}
          - http://127.0.0.1/private
        children: [NBA]
    - Tennis 网球
"""


@pytest.fixture
def thresher(tmp_path, monkeypatch, shell):
    """Run a command in a folder with a small taxonomy: exit code, standard output, standard error."""
    (tmp_path / "mine.yaml").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return shell


def test_import_says_what_was_read(thresher, tmp_path):
    code, out, err = thresher("topics", "import", "mine.yaml", "-o", "mine.taxonomy")
    assert (code, out) == (0, "mine.taxonomy: 4 topics, 2 example pages\n")
    assert "mine.yaml: YAML" in err
    assert (tmp_path / "mine.taxonomy").exists()


def test_import_as_json(thresher):
    _, out, _ = thresher("topics", "import", "mine.yaml", "-o", "mine.taxonomy", "--json")
    assert json.loads(out)["examples"] == 2


def test_import_says_what_was_damaged(thresher, tmp_path):
    (tmp_path / "a.rdf").write_bytes(b'<RDF><Topic r:id="Top/Arts"><d:Title>A\x07</d:Title></Topic></RDF>')
    _, _, err = thresher("topics", "import", "a.rdf", "-o", "a.taxonomy")
    assert "1 broken characters repaired, 0 entries left out" in err


def test_find_ranks_labels_of_both_languages(thresher):
    assert "Sports/Basketball" in thresher("topics", "find", "mine.yaml", "篮球")[1]
    [found] = json.loads(thresher("topics", "find", "mine.yaml", "tennis", "--json")[1])
    assert found == {"path": "Sports/Tennis", "labels": {"en": "Tennis", "zh": "网球"}, "urls": 0, "urls_below": 0,
                     "score": 1.0}  # fmt: skip


def test_find_without_a_match_fails_and_says_what_to_try(thresher):
    code, out, err = thresher("topics", "find", "mine.yaml", "astronomy")
    assert (code, out) == (1, "")
    assert "try fewer" in err


def test_show_says_all_of_a_topic(thresher):
    code, out, _ = thresher("topics", "show", "mine.yaml", "Sports/Basketball")
    assert code == 0
    for line in (
        "  zh: 篮球",
        "  en: basketbal 1.000, sport 0.500",
        "  NBA (0)",
        "  2 example pages, 2 with all below",
    ):
        assert line in out.splitlines()
    assert "lanqiu" in out


def test_nothing_from_a_file_reaches_the_terminal_as_a_command(thresher):
    assert "\x1b" not in thresher("topics", "show", "mine.yaml", "Sports/Basketball")[1]


def test_show_as_json(thresher):
    shown = json.loads(thresher("topics", "show", "mine.yaml", "Sports", "--json")[1])
    assert shown["descriptions"] == {"en": "Games and those who play them."}
    assert [child["path"] for child in shown["children"]] == ["Sports/Basketball", "Sports/Tennis"]


def test_an_unknown_node_is_answered_with_the_nearest(thresher):
    code, _, err = thresher("topics", "show", "mine.yaml", "Sports/Basketbal")
    assert code == 4
    assert "nearest: 'Sports/Basketball'" in err


def test_tree_goes_as_deep_as_asked(thresher):
    assert thresher("topics", "tree", "mine.yaml", "--depth", 1)[1] == "Sports · 体育 (2)\n"
    _, out, _ = thresher("topics", "tree", "mine.yaml", "Sports", "--depth", 1)
    assert out == "Sports · 体育 (2)\n  Basketball · 篮球 (2)\n  Tennis · 网球 (0)\n"
    listed = json.loads(thresher("topics", "tree", "mine.yaml", "--depth", 9, "--json")[1])
    assert [(each["level"], each["path"]) for each in listed][2] == (2, "Sports/Basketball/NBA")


def test_without_a_file_the_bundled_taxonomy_is_searched_and_named(thresher):
    for word in ("basketball", "篮球"):
        code, out, err = thresher("topics", "find", word)
        assert code == 0
        assert out.splitlines()[1].split()[1] == "Sports/Basketball"
        assert "In the bundled taxonomy of" in err


def test_without_a_file_a_bundled_topic_is_shown_with_keywords_and_spellings(thresher):
    code, out, _ = thresher("topics", "show", "Sports/Basketball")
    assert code == 0
    assert "Keywords:" in out.splitlines()
    assert "lanqiu" in out
    assert "example pages" not in out


def test_without_a_file_the_bundled_tree_is_listed_as_deep_as_asked(thresher):
    tops = thresher("topics", "tree", "--depth", 1)[1].splitlines()
    assert "Sports · 体育" in tops
    assert len(thresher("topics", "tree", "--depth", 3)[1].splitlines()) >= 300
    assert thresher("topics", "tree", "Sports/Basketball")[1].splitlines()[0] == "Basketball · 篮球"


def test_an_unknown_bundled_node_is_answered_with_similar_names(thresher):
    code, _, err = thresher("topics", "show", "Sport/Basketbal")
    assert code == 4
    assert "no node 'Sport/Basketbal' in the bundled taxonomy; nearest: 'Sports', 'Sports/Basketball'" in err


def test_a_file_that_is_not_there_is_not_taken_for_a_word(thresher):
    code, _, err = thresher("topics", "find", "none.taxonomy", "tennis")
    assert code == 4
    assert "there is no taxonomy none.taxonomy" in err


def test_a_file_without_words_or_with_two_nodes_is_refused(thresher):
    assert thresher("topics", "find", "mine.yaml")[0] == 2
    assert thresher("topics", "show", "mine.yaml")[0] == 2
    assert thresher("topics", "tree", "Sports", "Arts")[0] == 2


def test_import_says_how_many_topics_were_completed(thresher, tmp_path):
    (tmp_path / "paths.tsv").write_text("Sports/Basketball\nSports/Quidditch\n")
    assert "2 of 3 topics completed" in thresher("topics", "import", "paths.tsv", "-o", "a.taxonomy")[2]
    assert "Sports/Basketball" in thresher("topics", "find", "a.taxonomy", "篮球")[1]
    assert "completed" not in thresher("topics", "import", "paths.tsv", "-o", "b.taxonomy", "--as-it-is")[2]
    assert thresher("topics", "find", "b.taxonomy", "篮球")[0] == 1


def test_what_is_no_taxonomy_is_reported_in_one_sentence(thresher, tmp_path):
    (tmp_path / "paths.tsv").write_text("Sports/Tennis\n")
    code, _, err = thresher("topics", "tree", "paths.tsv")
    assert code == 4
    assert err.count("\n") == 1


def test_help_imports_nothing_heavy():
    script = "import sys, thresher.cli as c\ntry: c.thresher.main(['topics', '--help'])\nexcept SystemExit: pass\n"
    command = [sys.executable, "-c", script + "print(*sys.modules)"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "import" in loaded
    assert not {"scrapy", "sklearn", "pydantic", "pyarrow", "numpy", "pypinyin"} & set(loaded.split())
