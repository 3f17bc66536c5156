"""thresher ui: which crawls, where, and what is printed about it; the rest is tests/e2e/test_dashboard.py."""

import builtins

import pytest
from click.testing import CliRunner

from thresher.cli import thresher
from thresher.errors import ConfigError
from thresher_ui.dashboard import serve

TOPIC = "title: {en: solar cells}\nseeds: ['http://a.example/']\n"


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "solar"
    root.mkdir()
    (root / "topic.yaml").write_text(TOPIC, encoding="utf-8")
    return root


@pytest.fixture
def asked(monkeypatch):
    """What would be served; nothing is."""
    calls = []

    def note(make_service, place, announce):
        calls.append(place)
        announce(serve.Served(address="http://127.0.0.1:1/login?key=k", token="t" * 43))

    monkeypatch.setattr(serve, "serve", note)
    return calls


def run(*arguments):
    return CliRunner().invoke(thresher, ["ui", *map(str, arguments)], env={"THRESHER_STORE": ""})


def test_the_address_goes_to_standard_output_and_the_talk_elsewhere(folder, asked):
    result = run(folder, "--no-open")
    assert result.stdout == "http://127.0.0.1:1/login?key=k\n"
    assert "t" * 43 in result.stderr
    assert asked == [serve.ListenAddress(host="127.0.0.1", port=8765, names=())]


def test_the_browser_is_opened_unless_one_says_otherwise(folder, asked, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    run(folder)
    assert opened == ["http://127.0.0.1:1/login?key=k"]


def test_an_address_that_everybody_reaches_needs_a_name_and_comes_with_a_warning(folder, asked):
    refused = run(folder, "--host", "0.0.0.0", "--no-open")
    assert refused.exit_code == 2
    assert "--allow-host" in refused.output
    allowed = run(folder, "--host", "0.0.0.0", "--allow-host", "crawl.example", "--no-open")
    assert "token" in allowed.stderr.splitlines()[0]
    assert asked == [serve.ListenAddress(host="0.0.0.0", port=8765, names=("crawl.example",))]


def test_behind_a_proxy_with_tls_no_name_and_no_warning_are_needed(folder, asked):
    done = run(folder, "--host", "0.0.0.0", "--public-url", "https://Crawl.example/", "--no-open")
    assert "not encrypted" not in done.stderr
    assert asked == [serve.ListenAddress(host="0.0.0.0", public_url="https://crawl.example")]
    for wrong in ("crawl.example", "ftp://crawl.example", "https://crawl.example/path", "https://me@crawl.example"):
        assert run(folder, "--public-url", wrong, "--no-open").exit_code == 2


def test_without_a_crawl_there_is_nothing_to_show(asked):
    assert run().exit_code == 2
    assert asked == []


def test_without_its_packages_it_says_how_to_get_them(folder, monkeypatch):
    true_import = builtins.__import__

    def without(name, *arguments, **more):
        if name == "thresher_ui.dashboard":
            raise ModuleNotFoundError("No module named 'starlette'")
        return true_import(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    result = run(folder)
    assert isinstance(result.exception, ConfigError)
    assert 'pip install "thresher-crawler[ui]"' in str(result.exception)


def test_a_token_that_is_too_short_is_refused(monkeypatch):
    monkeypatch.setenv(serve.TOKEN_VARIABLE, "short")
    with pytest.raises(ConfigError, match="expected 32 or more"):
        serve.serve(lambda: None, serve.ListenAddress(port=0), lambda _: None)


@pytest.mark.parametrize(
    ("place", "address"),
    [
        (serve.ListenAddress(), "http://127.0.0.1:8765/login?key="),
        (serve.ListenAddress(host="::1"), "http://[::1]:8765/login?key="),
        (serve.ListenAddress(host="0.0.0.0", names=("crawl.example",)), "http://crawl.example:8765/login?key="),
        (serve.ListenAddress(host="0.0.0.0", names=("crawl.example:80",)), "http://crawl.example:80/login?key="),
        (serve.ListenAddress(public_url="https://crawl.example"), "https://crawl.example/login?key="),
    ],
)
def test_the_address_is_the_one_that_a_browser_can_open(place, address):
    guard = serve.Guard(frozenset())
    assert serve._served(place, 8765, guard).address == address + guard.key


def test_a_log_behind_a_proxy_holds_no_secret_that_the_user_has_set(monkeypatch):
    monkeypatch.setenv(serve.TOKEN_VARIABLE, "t" * 40)
    served = serve._served(serve.ListenAddress(public_url="https://crawl.example"), 8765, serve.Guard(frozenset()))
    assert served == serve.Served(address="https://crawl.example/login", token="$THRESHER_UI_TOKEN")
