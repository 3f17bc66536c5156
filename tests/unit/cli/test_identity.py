"""The commands about the identity, as a shell runs them."""

import json
import stat

import pytest

from testing.request_signatures import thumbprint

AGENT = "https://crawler.example.org"


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("THRESHER_IDENTITY", "THRESHER_IDENTITY_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "config" / "thresher" / "identity.pem"


def test_new_makes_a_key_that_only_its_owner_can_read(path, shell):
    code, out, err = shell("identity", "new")
    assert (code, str(path) in out, stat.S_IMODE(path.stat().st_mode)) == (0, True, 0o600)
    assert "PRIVATE" not in out + err


def test_new_does_not_replace_a_key(path, shell):
    shell("identity", "new")
    before = path.read_bytes()
    code, _, err = shell("identity", "new")
    assert (code, path.read_bytes()) == (4, before)
    assert "publish both" in err


def test_show_prints_the_public_part(path, shell):
    key_id = json.loads(shell("identity", "new", "--json")[1])["key_id"]
    shown = json.loads(shell("identity", "show", "--json")[1])
    assert (shown["key_id"], thumbprint(shown["jwk"]["x"]), shown["key"]) == (key_id, key_id, str(path))
    text = shell("identity", "show")[1]
    assert key_id in text
    assert "PRIVATE" not in text


def test_show_without_a_key_says_how_to_make_one(path, shell):
    code, _, err = shell("identity", "show")
    assert (code, "thresher identity new" in err) == (4, True)


def published(tmp_path, shell, *options):
    assert shell("identity", "publish", AGENT, "-o", tmp_path / "site", *options)[0] == 0
    return tmp_path / "site"


def test_publish_writes_the_directory_its_headers_and_a_page(path, shell, tmp_path):
    shell("identity", "new")
    folder = published(tmp_path, shell, "--contact", "me@example.org", "--address", "192.0.2.0/28")
    [key] = json.loads((folder / ".well-known" / "http-message-signatures-directory").read_bytes())["keys"]
    assert key["kid"] == thumbprint(key["x"])
    headers = (folder / "directory-headers.conf").read_text()
    assert "default_type application/http-message-signatures-directory+json;" in headers
    assert "add_header Signature-Input 'key1=(" in headers
    page = (folder / "index.html").read_text()
    for stated in (AGENT, key["kid"], "mailto:me@example.org", "192.0.2.0/28", "User-agent: Thresher"):
        assert stated in page
    assert "Reverse DNS" not in page


def test_publish_lists_both_keys_during_a_change(path, shell, tmp_path):
    shell("identity", "new")
    shell("identity", "new", "--key", tmp_path / "next.pem")
    folder = published(tmp_path, shell, "--key", path, "--key", tmp_path / "next.pem")
    assert len(json.loads((folder / ".well-known" / "http-message-signatures-directory").read_bytes())["keys"]) == 2


def test_markup_in_an_option_is_text_on_the_page(path, shell, tmp_path):
    shell("identity", "new")
    page = (published(tmp_path, shell, "--reverse-dns", "<b>x") / "index.html").read_text()
    assert "&lt;b&gt;x" in page
    assert "<b>x" not in page


def test_publish_needs_an_https_origin(path, shell, tmp_path):
    shell("identity", "new")
    code, _, err = shell("identity", "publish", "http://crawler.example.org", "-o", tmp_path / "site")
    assert (code, "is not an https origin" in err, (tmp_path / "site").exists()) == (4, True, False)
