"""Requests are signed for one host, method and path; the key is in one file that only its owner can read."""

import base64
import json
import stat

import pytest

from testing.request_signatures import Verifier, signature_base, thumbprint, verifies
from thresher.config.identity import (
    AGENT_VARIABLE,
    DIRECTORY_PATH,
    KEY_VARIABLE,
    VALID_SECONDS,
    Identity,
    directory,
    directory_headers,
    load_key,
    new_key,
)
from thresher.config.schema import CrawlConfig
from thresher.errors import ConfigError

AGENT = "https://crawler.example.org"
URL = "https://site.example/a/b?q=1"


@pytest.fixture
def path(tmp_path, monkeypatch):
    path = tmp_path / "keys" / "identity.pem"
    monkeypatch.setenv(KEY_VARIABLE, str(path))
    monkeypatch.delenv(AGENT_VARIABLE, raising=False)
    return path


@pytest.fixture
def key(path):
    return new_key(path)


def lowered(headers):
    return {name.lower(): value for name, value in headers.items()}


def signature_of(headers):
    return base64.b64decode(headers["signature"].partition("=:")[2].removesuffix(":"))


def test_the_verifier_accepts_the_example_of_the_draft():
    """It has the key of RFC 9421, appendix B.1.4."""
    headers = {
        "signature-agent": 'agent2="https://signature-agent.test"',
        "signature-input": 'sig2=("@authority" "signature-agent";key="agent2");created=1735689600'
        ';keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600'
        ';nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="'
        ';tag="web-bot-auth"',
        "signature": "sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:",
    }
    _, parameters, base = signature_base("GET", "https://example.com/", headers)
    x = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"
    assert thumbprint(x) == parameters["keyid"]
    assert verifies(x, signature_of(headers), base)
    assert not verifies(x, signature_of(headers), base.replace("example.com", "example.org"))


def test_a_request_is_verified_with_the_published_directory(key):
    verifier = Verifier(directory([key]), AGENT)
    assert verifier.trouble("GET", URL, lowered(Identity.of(AGENT).sign(URL))) == ""


@pytest.mark.parametrize(
    ("method", "url"),
    [("GET", "https://other.example/a/b"), ("GET", "https://site.example/c"), ("POST", URL)],
)
def test_a_signature_is_for_one_host_method_and_path(key, method, url):
    headers = lowered(Identity.of(AGENT).sign(URL))
    assert Verifier(directory([key]), AGENT).trouble(method, url, headers) == "a false signature"


@pytest.mark.parametrize("name", ["signature", "signature-input", "signature-agent"])
def test_a_changed_header_is_not_verified(key, name):
    headers = lowered(Identity.of(AGENT).sign(URL))
    middle = len(headers[name]) // 2
    changed = "A" if headers[name][middle] != "A" else "B"
    headers[name] = f"{headers[name][:middle]}{changed}{headers[name][middle + 1 :]}"
    assert Verifier(directory([key]), AGENT).trouble("GET", URL, headers)


def test_each_request_has_a_nonce_of_its_own(key):
    verifier, headers = Verifier(directory([key]), AGENT), lowered(Identity.of(AGENT).sign(URL))
    assert [verifier.trouble("GET", URL, headers) for _ in range(2)] == ["", "a repeated nonce"]


def test_a_signature_is_valid_for_minutes(key):
    _, parameters, _ = signature_base("GET", URL, lowered(Identity.of(AGENT).sign(URL)))
    assert int(parameters["expires"]) - int(parameters["created"]) == VALID_SECONDS


@pytest.mark.parametrize("odd", ["/100%", "/a%zz", "/a^b", "/a|b", "/[x]", "/ü"])
def test_a_path_that_has_no_form_is_left_out_and_the_host_is_signed(key, odd):
    url = f"https://site.example{odd}"
    headers = lowered(Identity.of(AGENT).sign(url))
    assert Verifier(directory([key]), AGENT).trouble("GET", url, headers) == ""


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://site.example:8443/", "site.example:8443"),
        ("https://127.0.0.2/", "127.0.0.2"),
        ("https://[::1]:8443/x", "[::1]:8443"),
    ],
)
def test_ports_and_addresses_belong_to_the_host(key, url, authority):
    headers = lowered(Identity.of(AGENT).sign(url))
    assert signature_base("GET", url, headers)[0]['"@authority"'] == authority
    assert Verifier(directory([key]), AGENT).trouble("GET", url, headers) == ""


def test_requests_are_not_signed_by_default(key):
    assert Identity.of(CrawlConfig().identity) is None


def test_the_environment_switches_signatures_on(key, monkeypatch):
    monkeypatch.setenv(AGENT_VARIABLE, f"{AGENT}/")
    assert Identity.of("").agent == AGENT
    assert Identity.of("https://other.example").agent == "https://other.example"


@pytest.mark.parametrize("text", ["crawler.example.org", "http://crawler.example.org", f"{AGENT}/path", "https://A.b"])
def test_only_an_https_origin_is_an_identity(key, text):
    with pytest.raises(ValueError, match="is not an https origin"):
        CrawlConfig(identity=text)


def test_only_its_owner_can_read_a_new_key(path, key):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_key_is_never_replaced(path, key):
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="is there already"):
        new_key(path)
    assert path.read_bytes() == before


def test_a_key_that_everybody_can_read_is_refused(path, key):
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        load_key(path)


@pytest.mark.parametrize("text", [b"", b"-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"])
def test_a_file_that_is_no_key_is_named_and_not_quoted(path, text):
    path.parent.mkdir()
    path.write_bytes(text)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="is no Ed25519 key") as caught:
        Identity.of(AGENT)
    assert "c2VjcmV0" not in str(caught.value)


def test_a_missing_key_comes_with_the_command_that_makes_one(path):
    with pytest.raises(ConfigError, match="thresher identity new"):
        Identity.of(AGENT)


def test_an_identity_does_not_print_its_key(key):
    assert "PRIVATE" not in repr(Identity.of(AGENT))


def test_the_directory_has_public_keys_only(key, tmp_path):
    keys = json.loads(directory([key, new_key(tmp_path / "next.pem")]))["keys"]
    assert [sorted(each) for each in keys] == [["crv", "kid", "kty", "use", "x"]] * 2
    assert [thumbprint(each["x"]) for each in keys] == [each["kid"] for each in keys]


def test_the_directory_is_signed_for_its_own_address(key):
    headers = lowered(directory_headers(AGENT, [key], days=90))
    assert headers["content-type"] == "application/http-message-signatures-directory+json"
    covered, parameters, base = signature_base("GET", f"{AGENT}{DIRECTORY_PATH}", headers)
    assert list(covered) == ['"@authority";req', '"content-digest"']
    assert int(parameters["expires"]) - int(parameters["created"]) == 90 * 24 * 3600
    [public] = json.loads(directory([key]))["keys"]
    assert verifies(public["x"], signature_of(headers), base)


def test_every_key_signs_the_directory(key, tmp_path):
    headers = directory_headers(AGENT, [key, new_key(tmp_path / "next.pem")], days=90)
    assert [headers["Signature"].count(f"key{number}=:") for number in (1, 2, 3)] == [1, 1, 0]
