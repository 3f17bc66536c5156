"""What the user types is understood or asked for again."""

import sys

import pytest

from testing.commands import called
from thresher.cli.seeds import choose, chosen_numbers
from thresher.operations.find_seeds import ProposedSeed, SeedProposal


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("all", [1, 2, 3, 4]),
        ("none", []),
        ("1, 3-4", [1, 3, 4]),
        ("2，2", [2]),
        ("5", None),
        ("x", None),
        ("1-", None),
    ],
)
def test_numbers_are_read_as_users_write_them(answer, numbers):
    assert chosen_numbers(answer, 4) == numbers


def seed(url, relevance=1.0):
    return ProposedSeed(
        url=url,
        title="",
        language="en",
        score=1,
        relevance=relevance,
        relevant=relevance > 0.5,
        names=0,
        links=0,
        sources={},
        terms=["solar"],
    )


def test_yes_accepts_only_what_the_judge_finds_relevant(capsys):
    seeds = [seed("http://good.example/"), seed("http://casino.example/", 0.0)]
    proposal = SeedProposal(seeds=seeds, pages={}, found=2, fetched=2, rejected={}, failures={})
    assert choose(proposal, yes=True) == [seeds[0]]
    assert "not accepted by --yes: http://casino.example/: not relevant to the judge (0.00)" in capsys.readouterr().err


def test_a_user_at_a_terminal_is_asked_until_the_answer_is_understood(monkeypatch):
    seeds = [seed("http://a.example/"), seed("http://b.example/")]
    proposal = SeedProposal(seeds=seeds, pages={}, found=2, fetched=2, rejected={}, failures={})
    answers = iter(["what", "2"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.prompt", lambda *_, **__: next(answers))
    assert choose(proposal, yes=False) == [seeds[1]]


def test_nothing_is_asked_of_a_service_that_was_not_named(tmp_path, monkeypatch):
    monkeypatch.delenv("THRESHER_SEED_SOURCES", raising=False)
    called("new", "solar", "--topic", "solar cells", "--contact", "me@example.org", folder=tmp_path)
    monkeypatch.setattr("testing.commands.PROCESSES", set())
    ended = called("seeds", "--into", "solar", folder=tmp_path)
    assert ended.returncode == 4
    assert "no source of seeds is named" in ended.stderr


def test_without_a_crawl_a_contact_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr("testing.commands.PROCESSES", set())
    ended = called("seeds", "solar cells", "--source", "wikipedia", folder=tmp_path)
    assert ended.returncode == 4
    assert "--contact" in ended.stderr


def test_suggestions_are_shown_and_used_only_when_they_are_accepted(tmp_path):
    shown = called("new", "a", "--topic", "mathematics", "--expand", folder=tmp_path)
    assert "title zh: 数学" in shown.stderr
    assert "Not used" in shown.stderr
    assert "数学" not in (tmp_path / "a" / "topic.yaml").read_text(encoding="utf-8")
    called("new", "b", "--topic", "mathematics", "--expand", "--yes", folder=tmp_path)
    assert "zh: 数学" in (tmp_path / "b" / "topic.yaml").read_text(encoding="utf-8")


def test_a_topic_that_nothing_is_known_of_stays_as_it_is(tmp_path):
    made = called("new", "a", "--topic", "left-handed knitting", "--expand", "--yes", folder=tmp_path)
    assert "nothing to add" in made.stderr
