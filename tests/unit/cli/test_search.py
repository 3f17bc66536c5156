"""thresher search, as a user meets it."""

import json

import pytest
from click.testing import CliRunner

from tests.unit.search.conftest import page
from thresher.cli import thresher
from thresher.storage.page_store import PageStoreWriter


@pytest.fixture
def crawl(tmp_path):
    (tmp_path / "topic.yaml").write_text(
        "name: tides\nkeywords: [tidal power]\npoliteness: {contact: me@example.org}\n", encoding="utf-8"
    )
    writer = PageStoreWriter(tmp_path / "pages" / "w1.db")
    writer.write(
        [
            page("1", "Tidal mills They grind corn on coasts; such mills are old.", title="Tidal mills", at=86_400.0),
            page("2", "潮汐发电站利用海水的涨落。", title="潮汐发电", language="zh", at=2 * 86_400.0),
            page("3", "tidal \x1b]0;owned\x07 \u202e power", title="bad \x1b[31m title\nwith a line", relevance=0.05),
        ]
    )
    writer.close()
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(thresher, ["search", *map(str, arguments)])


def test_a_search_prints_title_address_verdict_and_snippet(crawl):
    result = run(crawl, "mills")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "1. Tidal mills",
        "   http://a.example/1",
        "   relevant, relevance 0.500",
        "   They grind corn on coasts; such «mills» are old.",
    ]
    assert "1 of 3 pages" in result.stderr


def test_chinese_is_found(crawl):
    assert "潮汐发电" in run(crawl, "发电").stdout


def test_nothing_of_a_page_reaches_the_terminal_as_a_command(crawl):
    printed = run(crawl, "tidal", "power").stdout
    assert "http://a.example/3" in printed
    assert not set(printed) & set("\x1b\x07\u202e")
    assert all(line.isprintable() for line in printed.splitlines())


def test_json_holds_the_same_for_programs(crawl):
    [found] = json.loads(run(crawl, "mills", "--json").stdout)
    assert (found["url"], found["all_words"], found["alike"]) == ("http://a.example/1", True, 0)


def test_filters_can_be_given(crawl):
    assert run(crawl, "tidal", "--min-relevance", "0.4").stdout.count("http://") == 1
    assert run(crawl, "发电", "--language", "en").exit_code == 1
    assert run(crawl, "发电", "--since", "1970-01-03").exit_code == 0
    assert run(crawl, "发电", "--until", "1970-01-03").exit_code == 1
    assert run(crawl, "tidal", "--host", "b.example").exit_code == 1


def test_an_argument_of_several_words_among_others_is_a_phrase(crawl):
    assert run(crawl, "corn", "grind corn").exit_code == 0
    assert "some of the words" not in run(crawl, "corn", "grind corn").stdout
    assert run(crawl, "coast", "corn grind").exit_code == 1


def test_no_answer_is_exit_code_1(crawl):
    assert run(crawl, "perovskite").exit_code == 1


def test_a_query_of_nothing_but_common_words_is_refused_with_words(crawl):
    result = run(crawl, "the")
    assert result.exit_code == 2
    assert "no searchable word" in result.stderr
