"""Secrets come from the environment, go to their host only, and are kept nowhere."""

import base64
import copy
import json
import pickle

import pytest

from thresher.config.access import MARK, AccessTable
from thresher.config.folder import CrawlFolder
from thresher.config.loading import load_config
from thresher.config.schema import AccessConfig, CrawlConfig
from thresher.config.secrets import REDACTED, Secret
from thresher.config.upstream_proxy import UpstreamProxy
from thresher.coordination.crawl_definition import shared_files
from thresher.errors import ConfigError
from thresher.records import FetchedPage

TOKEN = "Bearer t0ken-of-the-wiki"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    values = {
        "TOKEN": TOKEN,
        "USER_NAME": "ann",
        "PASSWORD": "pass word:1",
        "SESSION": "s3ssion-s3cret",
        "LINE": "a\nb",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def table(tmp_path, **entry):
    entry = {"host": "wiki.example.org", "headers": {"Authorization": {"env": "TOKEN"}}, **entry}
    return AccessTable.of([AccessConfig.model_validate(entry)], tmp_path)


def sent(access, url):
    entry = access.find(url)
    return {name: value.reveal() for name, value in entry.lines(url)} if entry else {}


def test_header_basic_and_cookies_are_sent(tmp_path):
    assert sent(table(tmp_path), "https://wiki.example.org/a") == {"Authorization": TOKEN}
    basic = {"user_env": "USER_NAME", "password_env": "PASSWORD"}
    access = table(tmp_path, headers={}, basic=basic, cookies={"a": {"env": "SESSION"}, "b": {"env": "USER_NAME"}})
    authorization = "Basic " + base64.b64encode(b"ann:pass word:1").decode()
    expected = {"Authorization": authorization, "Cookie": "a=s3ssion-s3cret; b=ann"}
    assert sent(access, "https://wiki.example.org/") == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://wiki.example.org/",
        "https://wiki.example.org:8443/",
        "https://www.wiki.example.org/",
        "https://example.org/",
        "https://wiki.example.org.evil.example/",
        "https://evilwiki.example.org/",
        "http://wiki.example.org:443/",
    ],
)
def test_no_other_host_scheme_or_port_gets_a_secret(tmp_path, url):
    assert table(tmp_path).find(url) is None


def test_subdomains_ports_and_http_are_opt_in(tmp_path):
    assert table(tmp_path, subdomains=True).find("https://a.b.wiki.example.org/")
    assert not table(tmp_path, subdomains=True).find("https://evilwiki.example.org/")
    assert table(tmp_path, allow_http=True).find("http://wiki.example.org/")
    access = table(tmp_path, host="wiki.example.org:8443")
    assert access.find("https://wiki.example.org:8443/")
    assert not access.find("https://wiki.example.org/")
    assert table(tmp_path, host="[::1]:8443").find("https://[::1]:8443/")


def test_the_most_specific_entry_counts(tmp_path):
    both = [
        {"host": "example.org", "subdomains": True, "headers": {"X-Key": {"env": "SESSION"}}},
        {"host": "wiki.example.org", "headers": {"X-Key": {"env": "TOKEN"}}},
    ]
    access = AccessTable.of([AccessConfig.model_validate(entry) for entry in both], tmp_path)
    assert sent(access, "https://wiki.example.org/") == {"X-Key": TOKEN}
    assert sent(access, "https://www.example.org/") == {"X-Key": "s3ssion-s3cret"}


@pytest.mark.parametrize("variable", ["MISSING", "LINE"])
def test_an_unusable_variable_is_named_and_its_value_is_not(tmp_path, variable):
    with pytest.raises(ConfigError, match=variable) as error:
        table(tmp_path, headers={"X-Key": {"env": variable}})
    assert "a\nb" not in str(error.value)


def test_a_public_suffix_has_no_subdomains_to_send_secrets_to(tmp_path):
    with pytest.raises(ValueError, match="no subdomains"):
        table(tmp_path, host="org", subdomains=True)
    with pytest.raises(ConfigError, match="many owners"):
        table(tmp_path, host="co.uk", subdomains=True)


def test_a_secret_is_not_printed_copied_into_text_or_serialised():
    secret = Secret("s3cret")
    assert f"{secret} {secret!r} {[secret]}" == f"{REDACTED} {REDACTED} [{REDACTED}]"
    for serialise in (pickle.dumps, copy.copy, json.dumps):
        with pytest.raises(TypeError):
            serialise(secret)


@pytest.mark.parametrize(
    "text",
    [
        "access: [{host: a.example, cookies: {session: s3cret-typed}}]\n",
        "access: [{host: a.example, cookies: {session: {env: s3cret-typed}}}]\n",
        "access: [{host: a.example, headers: {Authorization: s3cret-typed}}]\n",
        "access: s3cret-typed\n",
        "network: {proxy: {url: 'http://me:s3cret-typed@proxy.example:3128'}}\n",
        "network: {proxy: 'http://me:s3cret-typed@proxy.example:3128'}\n",
    ],
)
def test_a_secret_in_topic_yaml_is_an_error_that_does_not_repeat_it(tmp_path, text):
    (tmp_path / "topic.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_config(tmp_path / "topic.yaml")
    assert "s3cret-typed" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"access": [{"host": "a.example"}]}, "give basic"),
        ({"access": [{"host": "a.example", "headers": {"Host": {"env": "TOKEN"}}}]}, "not the name of a header"),
        ({"network": {"proxy": {}}}, "give either env"),
        ({"network": {"proxy": {"env": "P"}, "connect_to": {"*:80": "127.0.0.1:1"}}}, "remove connect_to"),
        (
            {
                "network": {"proxy": {"env": "P"}},
                "access": [{"host": "a.example", "allow_http": True, "headers": {"X": {"env": "TOKEN"}}}],
            },
            "the proxy could read",
        ),
        (
            {
                "network": {"proxy": {"env": "P", "names": "proxy"}},
                "politeness": {"serialize_by": "ip"},
            },
            "needs the addresses of names",
        ),
    ],
)
def test_settings_that_would_leak_or_not_work_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        CrawlConfig.model_validate(settings)


def test_a_response_that_repeats_a_secret_is_redacted_and_marked(tmp_path):
    access = table(tmp_path).find("https://wiki.example.org/")
    headers = {"set-cookie": "t=t0ken-of-the-wiki"}
    page = FetchedPage(
        url="https://wiki.example.org/",
        status=200,
        headers=headers,
        body=b"<p>You sent t0ken-of-the-wiki.",
        fetched_at=0.0,
        header_lines=[("Set-Cookie", "t=t0ken-of-the-wiki")],
    )
    kept = access.redacted(page)
    assert (kept.body, kept.headers) == (b"<p>You sent [redacted].", {"set-cookie": "t=[redacted]"})
    assert kept.header_lines == [("Set-Cookie", "t=[redacted]"), MARK]
    plain = FetchedPage(url=page.url, status=200, headers={}, body=b"nothing", fetched_at=0.0)
    assert access.redacted(plain) is plain


STATE = {
    "cookies": [
        {"name": "sid", "value": "state-cookie-s3cret", "domain": ".wiki.example.org", "path": "/", "expires": -1},
        {"name": "old", "value": "x", "domain": "wiki.example.org", "path": "/", "expires": 1},
        {"name": "deep", "value": "y", "domain": "wiki.example.org", "path": "/a", "expires": -1},
        {"name": "other", "value": "z", "domain": "mail.example.org", "path": "/", "expires": -1},
    ],
    "origins": [
        {"origin": "https://wiki.example.org", "localStorage": [{"name": "k", "value": "local-storage-s3cret"}]},
        {"origin": "https://mail.example.org", "localStorage": [{"name": "k", "value": "v"}]},
    ],
}


def test_of_a_storage_state_only_the_part_of_the_host_is_used(tmp_path, monkeypatch):
    (tmp_path / "state.json").write_text(json.dumps(STATE))
    monkeypatch.setenv("STATE", str(tmp_path / "state.json"))
    for source in ({"file": "state.json"}, {"env": "STATE"}):
        access = table(tmp_path, headers={}, storage_state=source)
        assert sent(access, "https://wiki.example.org/") == {"Cookie": "sid=state-cookie-s3cret"}
        assert sent(access, "https://wiki.example.org/a/b") == {"Cookie": "sid=state-cookie-s3cret; deep=y"}
        state = access.find("https://wiki.example.org/").browser_state()
        assert {cookie["name"] for cookie in state["cookies"]} == {"sid", "old", "deep"}
        assert all(cookie["secure"] for cookie in state["cookies"])
        assert [row["origin"] for row in state["origins"]] == ["https://wiki.example.org"]


def test_a_damaged_storage_state_is_not_quoted(tmp_path):
    (tmp_path / "state.json").write_text('{"cookies": [{"name": "sid", "value": "s3cret", "domain": "a"')
    with pytest.raises(ConfigError, match="no storage state file") as error:
        table(tmp_path, storage_state={"file": "state.json"})
    assert "s3cret" not in str(error.value)
    assert error.value.__cause__ is None


def test_the_proxy_url_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("PROXY", "http://me:p%40ss@proxy.example:3128")
    config = CrawlConfig.model_validate({"network": {"proxy": {"env": "PROXY"}}}).network.proxy
    proxy = UpstreamProxy.of(config)
    assert (proxy.host, proxy.port, proxy.user.reveal(), proxy.password.reveal()) == (
        "proxy.example",
        3128,
        "me",
        "p@ss",
    )
    assert "p@ss" not in repr(proxy)
    assert proxy.authorization() == "Basic " + base64.b64encode(b"me:p@ss").decode()
    for wrong in ("socks5://me:p%40ss@proxy.example:1080", "http://me:p%40ss@proxy.example:70000", "p%40ss"):
        monkeypatch.setenv("PROXY", wrong)
        with pytest.raises(ConfigError, match="PROXY") as error:
            UpstreamProxy.of(config)
        assert "p%40ss" not in str(error.value)


def test_a_storage_state_file_is_not_shared_by_a_store(tmp_path):
    folder = CrawlFolder(tmp_path)
    entry = {"host": "wiki.example.org", "storage_state": {"file": "state.json"}}
    folder.topic.write_text(json.dumps({"access": [entry], "seeds": []}), encoding="utf-8")
    (tmp_path / "state.json").write_text("{}", encoding="utf-8")
    assert list(shared_files(folder, load_config(folder.topic))) == ["topic.yaml"]
