"""The prose of every page keeps the rules of `tests.docs.prose`, and the linter finds what breaks them."""

import pytest

from tests.docs.blocks import ROOT
from tests.docs.prose import MAX_CHARACTERS, MAX_WORDS, main, pages, prose_of, read_prose

EXEMPT = {"docs/reference/bundled-taxonomy.md": "names of topics that a public directory gave"}


def named(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [page for page in pages() if named(page) not in EXEMPT], ids=named)
def test_a_page_keeps_the_rules(page):
    findings = prose_of(page).findings()
    assert findings == [], "\n".join(findings)


def test_every_exempt_page_is_there():
    assert {*EXEMPT} <= {named(page) for page in pages()}


def texts(markdown):
    return [sentence.text for sentence in read_prose(markdown).sentences]


@pytest.mark.parametrize(
    ("markdown", "sentences"),
    [
        ("One. Two\nlines! Three?", ["One.", "Two lines!", "Three?"]),
        ("- one\n- two\n  lines\n1. three", ["one", "two lines", "three"]),
        ("# Heading. One\n\nText.\n\n| a. b | c |\n|---|---|\n\nEnd:", ["Text.", "End:"]),
        ("Before.\n\n```console\n$ no. prose\n```\n\nAfter.", ["Before.", "After."]),
        ("Run `a b. c` now. See [the page](x.md).", ["Run CODE now.", "See the page."]),
        ("At https://a.example/b.c?d=1. **Then** stop.", ["At URL.", "Then stop."]),
        ("Lee et al. took .8 (e.g. A. B). Equal.", ["Lee et al. took .8 (e.g. A. B).", "Equal."]),
        ("<!-- not run: a. b -->\nText <!-- c. d --> here.\n<!-- e\nf. g\n-->\nEnd.", ["Text here.", "End."]),
        ("> Quoted\n> words. More.", ["Quoted words.", "More."]),
        ("先抓取。再判断！好？", ["先抓取。", "再判断！", "好？"]),
    ],
)
def test_sentences_are_those_of_the_prose_alone(markdown, sentences):
    assert texts(markdown) == sentences


def test_a_sentence_knows_its_line_and_its_words():
    [_, second] = read_prose("One.\nAnd `two or\nmore` 3 – x-y,\nz.").sentences
    assert (second.line, second.words) == (2, 5)


def test_long_sentences_and_a_long_average_are_found():
    long, short = "word " * MAX_WORDS + "more.", "Short one."
    assert read_prose(f"{short}\n\n{long} {short} {short}").findings() == [
        f"line 3: {MAX_WORDS + 1} words, at most {MAX_WORDS}: {long}"
    ]
    assert read_prose("word " * 16 + "more.").findings() == ["17.0 words in a sentence on average, at most 16"]


def test_a_chinese_page_has_a_limit_of_characters_and_no_average():
    assert read_prose("抓" * MAX_CHARACTERS + "。").findings() == []
    [finding] = read_prose("好。\n\n" + "抓" * (MAX_CHARACTERS - 1) + " Thresher `run` 。").findings()
    assert finding.startswith(f"line 3: {MAX_CHARACTERS + 1} characters")


def test_banned_words_are_found_in_tables_and_headings_and_not_in_code():
    page = "# The crew\n\n| a | whoever |\n|---|---|\n\nSo many `told` rows in their book.\n\n```text\nsaid\n```"
    assert [finding.partition(";")[0] for finding in read_prose(page).findings()] == [
        "line 1: 'crew'",
        "line 3: 'whoever'",
        "line 6: 'So many'",
        "line 6: 'their book'",
    ]


def test_the_newest_entries_of_the_changelog_are_checked_and_older_ones_are_history(tmp_path):
    page = tmp_path / "CHANGELOG.md"
    page.write_text("# Changelog\n\n## Unreleased\n\n## 0.2.0\n\nNew.\n\n## 0.1.0\n\nWhoever.\n", encoding="utf-8")
    assert prose_of(page).findings() == []


def test_the_command_prints_each_page_and_what_it_finds(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tests.docs.prose.ROOT", tmp_path)
    page = tmp_path / "a.md"
    page.write_text("A crew works.\n", encoding="utf-8")
    assert main([str(page)]) == 1
    assert capsys.readouterr().out == (
        "a.md: 3 words, 3.0 in a sentence on average, 3 at most\n"
        "  line 1: 'crew'; write: workers\n"
        "1 pages with findings\n"
    )
    page.write_text("Workers work.\n", encoding="utf-8")
    assert main([str(page)]) == 0


MAX_WORDS_IN_ALL = 80_000
"""Of the documentation that people write: more than that nobody reads, and nobody keeps true."""


def test_the_pages_that_people_write_have_at_most_80000_words():
    texts = {page: page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("**/*.md")}
    written = {page: text for page, text in texts.items() if "\nWritten by `make " not in text[:400]}
    assert sum(len(text.split()) for text in written.values()) <= MAX_WORDS_IN_ALL
