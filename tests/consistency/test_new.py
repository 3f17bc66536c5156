"""What `new` accepts, `run` accepts too; what is missing is named."""

import pytest
import yaml

from thresher.assembly import check_crawl
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError

TOPIC, SEED, CONTACT = ["--topic", "apple orchard"], ["--seed", "https://a.example/"], ["--contact", "me@a.example"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "the topic has no words"),
        (["--topic", "", *SEED], "--topic is empty"),
        (["--topic", "  ", *SEED], "--topic is empty"),
        ([*TOPIC, *SEED, "--contact", "hello"], "neither a mail address nor a web address"),
        ([*TOPIC, *SEED, "--contact", "https://"], "neither a mail address nor a web address"),
    ],
)
def test_u9_what_no_run_could_use_is_refused(thresher, tmp_path, given, words):
    done = thresher("new", "crawl", *given)
    assert (done.returncode, words in done.stderr) == (4, True), done.stderr
    assert not (tmp_path / "crawl" / "topic.yaml").exists()


def refusal_of_run(folder):
    """Return why `run` would refuse a crawl; empty when it would start."""
    try:
        check_crawl(CrawlSetup.open(folder))
    except ConfigError as error:
        return str(error).rpartition("; ")[2]
    return ""


@pytest.mark.parametrize(
    "given",
    [[*TOPIC, *SEED, *CONTACT], [*TOPIC, *SEED], [*TOPIC, *CONTACT], [*SEED, "--contact", "https://a.example/bot"]],
)
def test_u9_the_next_step_is_a_run_only_if_a_run_would_start(thresher, tmp_path, given):
    done = thresher("new", "crawl", *given)
    assert done.returncode == 0
    refusal = refusal_of_run(tmp_path / "crawl")
    assert ("Next: thresher run crawl" in done.stderr) == (not refusal)
    assert ("will refuse it" in done.stderr) == bool(refusal)


def test_u9_one_seed_is_accepted_with_a_hint(thresher):
    assert "One seed" in thresher("new", "one", *TOPIC, *SEED, *CONTACT).stderr
    assert "One seed" not in thresher("new", "two", *TOPIC, *SEED, "--seed", "https://b.example/", *CONTACT).stderr


def test_u9_run_checks_the_contact_as_new_does(thresher, tmp_path):
    thresher("new", "crawl", *TOPIC, *SEED, *CONTACT)
    path = tmp_path / "crawl" / "topic.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    document["politeness"]["contact"] = "hello"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    with pytest.raises(ConfigError, match="neither a mail address nor a web address"):
        check_crawl(CrawlSetup.open(tmp_path / "crawl"))


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (["strategies", "thresh"], "did you mean 'thresher'?"),
        (["judges", "adaptiv"], "did you mean 'adaptive'?"),
        (["statu"], "did you mean 'status'?"),
        (["new", "crawl", *TOPIC, *SEED, "--strategy", "best_first"], "did you mean 'best-first'?"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_u15_an_unknown_name_is_answered_with_the_closest_one(thresher, command, hint):
    done = thresher(*command)
    assert done.returncode in (2, 4)
    assert hint in done.stderr


def test_u15_doctor_lists_every_extra_with_how_to_install_it(thresher, monkeypatch):
    monkeypatch.setattr("thresher.cli.doctor._version", lambda package: "" if package == "warcio" else "1.0")
    done = thresher("doctor")
    for extra in ("browser", "lab", "learn", "metrics", "notebook", "redis", "scrapy", "ui", "warc"):
        assert f"[{extra}]" in done.stdout
    assert "[dev]" not in done.stdout
    assert "not installed: warcio" in done.stdout
    assert 'pip install "thresher-crawler[warc]"' in done.stdout
