"""The commands of the lab, over a page file of 33 pages."""

import json
import subprocess
import sys
from contextlib import closing

import pyarrow.parquet as pq
import pytest
import yaml

from thresher_lab.simulation import compare
from thresher_lab.webs import server
from thresher_lab.webs.importers.pagefile import SourcePage, write_web
from thresher_lab.webs.virtualweb import VirtualWeb
from thresher_lab.webs.webstore import find_store

HUBS = {"tea": "http://tea.example/", "solar": "http://solar.example/", "ships": "http://ships.example/"}


def pages():
    """Three topics of a hub and ten leaves; each leaf leads to the next one and to the hubs of all topics."""
    for topic, hub in HUBS.items():
        leaves = [f"{hub}{number}.html" for number in range(10)]
        yield page(hub, topic, f"All about {topic}", [*leaves, "http://gone.example/"])
        for number, leaf in enumerate(leaves):
            yield page(leaf, topic, f"{topic} number {number}", [leaves[number - 1], *HUBS.values()])


def page(url, topic, title, links):
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    return SourcePage(url=url, title=title, topics=(topic,), html=f"<title>{title}</title><p>{title} {anchors}</p>")


@pytest.fixture
def webs(tmp_path, monkeypatch):
    """A folder with one page file, an empty cache, an empty folder to work in, no web open."""
    benches = {}
    for name in ("webs", "work"):
        (tmp_path / name).mkdir()
    write_web(tmp_path / "webs" / "small.pages.jsonl.zst", pages())
    monkeypatch.setenv("THRESHER_WEBS", str(tmp_path / "webs"))
    monkeypatch.setenv("THRESHER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compare, "_benches", benches)
    monkeypatch.chdir(tmp_path / "work")
    yield tmp_path / "webs"
    for bench in benches.values():
        bench.web.close()
        bench.pages.close()


@pytest.fixture
def thresher(webs, shell):
    """Run a command as a shell would: exit code, standard output, standard error."""
    return shell


COMPARE = (
    "lab",
    "compare",
    "--web",
    "small",
    "--topics",
    "tea,solar",
    "--seeds",
    "2",
    "--pages",
    "12",
    "--workers",
    "1",
)
RUN = ("lab", "run", "--web", "small", "--topic", "tea", "--strategy", "best-first", "--pages", "12")


# webs


def test_webs_are_listed_without_importing_them(thresher, tmp_path):
    code, out, err = thresher("lab", "webs")
    assert code == 0
    assert "small" in out
    assert "not imported yet" in out
    assert "thresher lab webs --import" in err
    assert not list((tmp_path / "cache").glob("*.db"))


def test_webs_can_be_imported_and_are_counted_then(thresher):
    asked = thresher("lab", "webs", "--import", "--json")
    expected = {"web": "small", "imported": True, "pages": 33, "hosts": 3, "topics": 3, "dev": 0, "test": 0}
    assert json.loads(asked[1]) == [expected]
    assert json.loads(thresher("lab", "webs", "--json")[1]) == [expected]


def test_a_web_that_was_opened_is_listed_as_imported(thresher, webs):
    with closing(VirtualWeb("small", find_store("small"))):
        pass
    _, out, err = thresher("lab", "webs")
    assert "33" in out
    assert err == ""


def test_without_a_folder_of_webs_it_says_how_to_name_one(thresher, monkeypatch):
    monkeypatch.delenv("THRESHER_WEBS")
    code, _, err = thresher("lab", "webs")
    assert code == 4
    assert "export THRESHER_WEBS=" in err


def test_an_empty_folder_of_webs_is_reported(thresher, monkeypatch, tmp_path):
    monkeypatch.setenv("THRESHER_WEBS", str(tmp_path / "work"))
    code, _, err = thresher("lab", "webs")
    assert code == 4
    assert "no *.pages.jsonl.zst file" in err


# run


def test_one_crawl_prints_its_metrics(thresher):
    code, out, _ = thresher(*RUN)
    assert code == 0
    assert "percent of oracle" in out
    assert "harvest rate" in out


def test_one_crawl_as_json_has_no_curves(thresher):
    row = json.loads(thresher(*RUN, "--judge", "adaptive", "--seeds-per-set", "2", "--seed-set", "3", "--json")[1])
    assert (row["judge"], row["seeds"], row["seed_set"], row["targets"]) == ("adaptive", 2, 3, 11)
    assert "curve" not in row


@pytest.mark.parametrize(
    ("option", "known"),
    [("--web", "small"), ("--topic", "ships, solar, tea"), ("--strategy", "oracle, ")],
)
def test_an_unknown_name_ends_with_code_4_and_the_known_ones(thresher, option, known):
    code, out, err = thresher(*RUN, option, "nonsense")
    assert (code, out) == (4, "")
    assert "'nonsense'" in err
    assert known in err


# compare


def test_strategies_are_compared_with_the_baseline(thresher, tmp_path):
    code, out, err = thresher(*COMPARE, "--strategies", "best-first,oracle")
    lines = out.splitlines()
    assert code == 0
    first_60 = "% in first 60 harvest in first 60"
    assert " ".join(lines[0].split()) == f"strategy % of oracle {first_60} difference p (Holm) wins/losses worst topic"
    assert " ".join(lines[4].split()) == f"upper bound % of oracle {first_60} difference"
    assert lines[5].startswith("oracle")
    assert sum("baseline" in line for line in lines) == 1
    assert "12 of 12 crawls" in err
    assert "thresher lab report" in err
    assert len((tmp_path / "work" / "thresher-lab" / "small.jsonl").read_text().splitlines()) == 12
    assert pq.read_table(tmp_path / "work" / "thresher-lab" / "small.parquet").num_rows == 12


def test_comparing_again_runs_nothing_again(thresher, monkeypatch):
    first = json.loads(thresher(*COMPARE, "--strategies", "best-first", "--json")[1])
    monkeypatch.setattr(compare, "_run_group", lambda tasks: pytest.fail("ran again"))
    assert json.loads(thresher(*COMPARE, "--strategies", "best-first", "--json")[1]) == first


def test_judges_are_compared_apart(thresher):
    out = thresher(*COMPARE, "--strategies", "best-first", "--judge", "perfect,adaptive", "--json")[1]
    summary = [(line["judge"], line["strategy"]) for line in json.loads(out)["summary"]]
    assert sorted(summary) == [
        (judge, name) for judge in ("adaptive", "perfect") for name in ("best-first", "breadth-first")
    ]
    assert not [name for row in json.loads(out)["rows"] for name in row if name.endswith("curve")]


def test_the_table_tells_judges_apart(thresher):
    lines = thresher(*COMPARE, "--strategies", "best-first", "--judge", "perfect,adaptive")[1].splitlines()
    assert [line.split()[0] for line in lines] == ["judge", "perfect", "perfect", "adaptive", "adaptive"]


def test_all_topics_can_be_compared_by_several_processes(thresher):
    out = thresher(*COMPARE, "--strategies", "random", "--topics", "all", "--seeds", "1", "--workers", "2", "--json")[1]
    assert {row["topic"] for row in json.loads(out)["rows"]} == set(HUBS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--strategies", "best-first,shrk"), "no strategy is called 'shrk'; did you mean 'shark'? known: ache-levels"),
        (("--strategies", "best-first", "--baseline", "shrk"), "no strategy is called 'shrk'"),
        (("--strategies", "best-first", "--web", "none"), "no web is called 'none'; known: small"),
        (("--strategies", "best-first", "--topics", "tea,coffee"), "no topic is called 'coffee'; known: ships"),
        (("--strategies", "best-first", "--topics", "dev"), "no dev topics are set down for the web 'small'"),
        (("--strategies", "best-first", "--topics", ","), "no topic of small is chosen"),
    ],
)
def test_names_are_checked_before_anything_runs(thresher, tmp_path, options, words):
    code, out, err = thresher(*COMPARE, *options)
    assert (code, out) == (4, "")
    assert words in err
    assert not list((tmp_path / "work").iterdir())


def test_the_rows_cannot_be_named_like_the_parquet_file(thresher):
    code, _, err = thresher(*COMPARE, "--strategies", "random", "-o", "rows.parquet")
    assert code == 2
    assert ".jsonl" in err


def test_a_stopped_comparison_says_that_it_goes_on(thresher, monkeypatch):
    def stop(tasks):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "_run_group", stop)
    code, out, err = thresher(*COMPARE, "--strategies", "best-first")
    assert (code, out) == (11, "")
    assert "the same command continues" in err


# report


def test_a_report_is_made_of_what_compare_wrote(thresher, tmp_path):
    thresher(*COMPARE, "--strategies", "best-first", "-o", tmp_path / "rows.jsonl")
    code, out, _ = thresher("lab", "report", tmp_path / "rows.jsonl", "-o", tmp_path / "new" / "report.html")
    text = (tmp_path / "new" / "report.html").read_text(encoding="utf-8")
    assert code == 0
    assert out.strip() == str(tmp_path / "new" / "report.html")
    assert "thresher lab report rows.jsonl" in text
    assert str(tmp_path) not in text


def test_a_report_tolerates_a_torn_last_line(thresher, tmp_path):
    rows = tmp_path / "rows.jsonl"
    thresher(*COMPARE, "--strategies", "best-first", "-o", rows)
    rows.write_text(rows.read_text() + '{"web": "sma')
    assert thresher("lab", "report", rows)[0] == 0


def test_a_report_without_rows_or_baseline_says_so(thresher, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("")
    code, _, err = thresher("lab", "report", rows)
    assert code == 4
    assert "no results to compare" in err
    thresher(*COMPARE, "--strategies", "best-first", "-o", rows)
    code, _, err = thresher("lab", "report", rows, "--baseline", "shark")
    assert code == 4
    assert "strategies there: best-first, breadth-first" in err


@pytest.mark.parametrize("part", ["cryptography", "matplotlib", "pyarrow", "scipy"])
def test_a_missing_part_is_named_with_its_remedy(thresher, monkeypatch, tmp_path, part):
    def write_pictures(sections, folder):
        raise ModuleNotFoundError(f"No module named '{part}.x'", name=f"{part}.x")

    thresher(*COMPARE, "--strategies", "random", "-o", tmp_path / "rows.jsonl")
    monkeypatch.setattr("thresher_lab.reports.overview.write_pictures", write_pictures)
    code, _, err = thresher("lab", "report", tmp_path / "rows.jsonl", "--png", tmp_path / "pictures")
    assert code == 1
    assert err.strip().splitlines()[-1] == f'the lab needs {part}: pip install "thresher-crawler[lab]"'


def test_a_comparison_without_pyarrow_is_refused_before_it_starts(thresher, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    code, _, err = thresher(*COMPARE, "--strategies", "random", "-o", tmp_path / "rows.jsonl")
    assert code == 4
    assert 'thresher lab compare needs pyarrow: pip install "thresher-crawler[lab]"' in err
    assert not (tmp_path / "rows.jsonl").exists()


# serve and help


def test_serve_prints_the_settings_that_a_crawl_needs(thresher, monkeypatch):
    def serve_web(name, *, port, latency_seconds, on_start):
        assert (name, port, latency_seconds) == ("small", 8080, 0.02)
        on_start({"*:80": "127.0.0.1:8080"}, "http://tea.example/")

    monkeypatch.setattr(server, "serve_web", serve_web)
    code, out, err = thresher("lab", "serve", "small", "--port", "8080", "--latency-ms", "20")
    assert code == 0
    assert yaml.safe_load(out)["network"] == {
        "allow": ["127.0.0.0/8"],
        "tls": "record",
        "connect_to": {"*:80": "127.0.0.1:8080"},
    }
    assert "A page to start from: http://tea.example/\n" in err


def test_help_imports_neither_numpy_nor_scipy():
    script = "import sys, thresher.cli as c\ntry: c.thresher.main(['lab', '--help'])\nexcept SystemExit: pass\n"
    command = [sys.executable, "-c", script + "print(*sys.modules)"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "compare" in loaded
    assert not {"numpy", "scipy", "pyarrow", "matplotlib"} & set(loaded.split())
