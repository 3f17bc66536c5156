"""thresher train trains on an earlier crawl or on example pages, reports the quality, and names the next step."""

import json

import pytest
from click.testing import CliRunner

from tests.unit.papers.training.test_collect import CLASSES, TOPIC, stored, url, write
from thresher.cli import thresher
from thresher.errors import ConfigError, CrawlNotFound
from thresher_papers.judges.trained import learner
from thresher_papers.strategies.layers.model import LayerModel
from thresher_papers.strategies.rules.table import RuleTable


def make_crawl(folder, *, relevant=range(10), more=""):
    folder.mkdir()
    (folder / "topic.yaml").write_text(TOPIC + more)
    write(folder, [stored(page, relevant=page in relevant) for page in range(40)])
    return folder


def run(*arguments):
    words = ["train", *map(str, arguments), "--pages", "0"]
    return CliRunner().invoke(thresher, words, catch_exceptions=False)


def test_layers_are_learned_from_the_crawl_itself(tmp_path):
    crawl = make_crawl(tmp_path / "solar")
    result = run(crawl)
    assert result.exit_code == 0, result.output
    assert f"Next: thresher run {crawl}\n" in result.stderr
    assert "Held out: 9" in result.stdout or "Held out: 100%" in result.stdout
    assert "Too few pages for reliable figures, fewer than 30: layer 0 (10), 1 (10), 2 (10)." in result.stdout
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "layer pages precision recall links into it typical words" in lines
    assert LayerModel.load(crawl / "model" / "trained").N == 4


def test_another_crawl_can_be_learned_from(tmp_path):
    make_crawl(tmp_path / "old")
    new = make_crawl(tmp_path / "new", relevant=())
    assert run(new, "--from", tmp_path / "old").exit_code == 0
    assert (new / "model" / "trained" / "layers.json").is_file()
    assert not (tmp_path / "old" / "model").exists()


def test_json_has_the_same_numbers(tmp_path):
    found = json.loads(run(make_crawl(tmp_path / "solar"), "--json").stdout)
    assert [layer["pages"] for layer in found["layers"]] == [10, 10, 10, 0, 0, 0]
    assert found["quality"]["confusion"].keys() == {"0", "1", "2"}
    assert found["failures"] == []


def test_the_same_seed_gives_the_same_model(tmp_path):
    files = []
    for name in ("one", "two"):
        crawl = make_crawl(tmp_path / name)
        assert run(crawl, "--random-state", 7).exit_code == 0
        files.append((crawl / "model" / "trained" / "layers.json").read_bytes())
    assert files[0] == files[1]


def test_a_strategy_that_needs_none_says_which_ones_do(tmp_path):
    crawl = make_crawl(tmp_path / "solar")
    (crawl / "topic.yaml").write_text(TOPIC.replace("layers", "best-first"))
    with pytest.raises(
        ConfigError, match=r"best-first .* needs no training; name one that does: --train context-graph"
    ):
        run(crawl)


def test_the_strategy_of_a_flag_is_named_in_the_next_command(tmp_path):
    result = run(make_crawl(tmp_path / "solar"), "--train", "context-graph")
    assert "--strategy context-graph" in result.stderr


def test_rules_are_learned_from_the_example_pages_of_a_file(tmp_path):
    crawl = make_crawl(tmp_path / "solar")
    file = tmp_path / "examples.tsv"
    file.write_text("".join(f"{label}\t{url(page)}\n" for label, pages in CLASSES.items() for page in pages))
    result = run(crawl, "--train", "rules", "--examples", file, "--target", "Energy/Solar")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-4:] == [
        "4 rules between 4 classes, from 40 linked pages",
        "2 classes lead to Energy/Solar in at most 2 links:",
        "  1.000  Lists/Hubs → Energy/Solar (1.00)",
        "  0.500  News/Fronts → Lists/Hubs (0.50) → Energy/Solar (1.00)",
    ]
    assert "class, classified as  Energy/Solar  Lists/Hubs  News/Fronts  Tea" in result.stdout
    assert RuleTable.load(crawl / "model" / "trained").targets == {"Energy/Solar"}


def test_rules_are_learned_from_the_entries_of_a_directory(tmp_path):
    crawl = make_crawl(
        tmp_path / "solar", more="taxonomy: {file: tree, nodes: [Energy/Solar], min_urls_per_class: 5}\n"
    )
    rows = [{"path": label, "url": url(page)} for label, pages in CLASSES.items() for page in pages]
    (tmp_path / "tree.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    CliRunner().invoke(thresher, ["topics", "import", str(tmp_path / "tree.jsonl"), "-o", str(crawl / "tree")])
    found = json.loads(run(crawl, "--train", "rules", "--json").stdout)
    assert found["scores"] == {"Lists/Hubs": 1.0, "News/Fronts": 0.5}
    assert found["targets"] == ["Energy/Solar"]


def test_a_link_file_without_links_is_named(tmp_path):
    crawl, links = make_crawl(tmp_path / "solar"), tmp_path / "links.tsv"
    links.write_text("nothing\n")
    with pytest.raises(ConfigError, match=r"links\.tsv has no links"):
        run(crawl, "--links", links)


def test_a_search_source_must_be_a_url(tmp_path):
    with pytest.raises(ConfigError, match="search source 'searx'"):
        run(make_crawl(tmp_path / "solar"), "--search", "searx")


def test_a_folder_without_a_crawl_is_an_error(tmp_path):
    with pytest.raises(CrawlNotFound):
        run(tmp_path)


def test_without_scikit_learn_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(learner, "find_spec", lambda _: None)
    with pytest.raises(
        ConfigError, match=r'strategy layers needs scikit-learn: pip install "thresher-crawler\[learn\]"'
    ):
        run(make_crawl(tmp_path / "solar"))


@pytest.mark.parametrize(("earlier", "now"), [("collect", "train"), ("gather", "pull"), ("work", "join")])
def test_an_earlier_name_of_a_command_still_works_and_names_the_new_one(earlier, now):
    result, asked = (CliRunner().invoke(thresher, [name, "--help"]) for name in (earlier, now))
    assert result.exit_code == asked.exit_code == 0
    assert result.stdout == asked.stdout
    assert result.stderr == f"warning: thresher {earlier} is called thresher {now} now\n"


def test_earlier_names_of_commands_are_not_listed():
    lines = CliRunner().invoke(thresher, ["--all"]).stdout.splitlines()
    assert not {"collect", "gather", "work"} & {
        line.split()[0] for line in lines if line.startswith("  ") and line.strip()
    }
