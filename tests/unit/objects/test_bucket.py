"""What a bucket answers is named, and no password of an endpoint is printed."""

import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from thresher.errors import ConfigError, ObjectMissing, StoreRefused, StoreUnreachable
from thresher.objects.base import open_objects

URL = "s3://bucket/solar"
OPERATIONS = {
    "list": lambda objects: objects.sizes("manifest/x"),
    "folders": lambda objects: objects.folders("manifest"),
    "put": lambda objects: objects.put_new("manifest/x/0", b"x"),
    "get": lambda objects: objects.get("manifest/x/0"),
}


class Answers(ThreadingHTTPServer):
    """An S3 endpoint that gives every request the same answer."""

    status, code, message = 200, "", ""


class Handler(BaseHTTPRequestHandler):
    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = (
            f"<?xml version='1.0'?>\n<Error><Code>{self.server.code}</Code><Message>{self.server.message}</Message>"
            "<AWSAccessKeyId>KEY</AWSAccessKeyId><StringToSign>SECRET</StringToSign></Error>"
        ).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = answer  # noqa: N815 - as http.server calls them

    def log_message(self, *_):
        pass


@pytest.fixture
def endpoint(monkeypatch):
    with Answers(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "KEY")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://user:PASSWORD@127.0.0.1:{server.server_port}")
        yield server
        server.shutdown()


def error_of(operation, kind):
    with pytest.raises(kind) as raised:
        OPERATIONS[operation](open_objects(URL))
    printed = "".join(traceback.format_exception(raised.value))
    assert "PASSWORD" not in printed
    assert "SECRET" not in printed
    return raised.value


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("status", "code", "remedy"),
    [
        (403, "AccessDenied", "check credentials and permissions"),
        (403, "SignatureDoesNotMatch", "check credentials and permissions"),
        (403, "InvalidAccessKeyId", "check credentials and permissions"),
        (401, "Unauthorized", "check credentials and permissions"),
        (400, "ExpiredToken", "check credentials and permissions"),
        (403, "RequestTimeTooSkewed", "set the clock of this machine"),
        (404, "NoSuchBucket", "create the bucket, or correct the URL"),
        (400, "AuthorizationHeaderMalformed", "check the region (AWS_REGION)"),
    ],
)
def test_a_refusal_is_named_as_the_storage_names_it(endpoint, operation, status, code, remedy):
    endpoint.status, endpoint.code, endpoint.message = status, code, "In its\n own words."
    error = error_of(operation, StoreRefused)
    assert str(error) == f"{URL} refuses the request: HTTP {status}: {code}: In its own words; {remedy}"
    assert error.exit_code == 8


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_bucket_in_another_region_is_named(endpoint, operation):
    endpoint.status, endpoint.code = 301, "PermanentRedirect"
    error = error_of(operation, StoreRefused)
    assert "redirect" in str(error)
    assert "check the region (AWS_REGION) and the endpoint" in str(error)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_storage_that_fails_is_not_reported_as_silent(endpoint, operation):
    endpoint.status, endpoint.code, endpoint.message = 503, "SlowDown", "Reduce your request rate"
    error = error_of(operation, StoreUnreachable)
    assert str(error) == f"{URL} answers with an error: HTTP 503: SlowDown: Reduce your request rate"


def test_a_missing_object_is_neither_a_refusal_nor_a_missing_bucket(endpoint):
    endpoint.status, endpoint.code = 404, "NoSuchKey"
    error_of("get", ObjectMissing)


def test_a_storage_that_is_away_shows_no_password(endpoint, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:PASSWORD%40more@127.0.0.1:1")
    assert "does not answer" in str(error_of("list", StoreUnreachable))


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT"])
@pytest.mark.parametrize("address", ["user:PASSWORD@h", "http://u:PASS WORD@h", "http://u:PASS/WORD@h", "http://[u@h"])
def test_an_endpoint_that_is_no_url_is_refused_before_any_request(endpoint, monkeypatch, variable, address):
    monkeypatch.setenv(variable, address)
    with pytest.raises(ConfigError, match=f"^{variable} is not the URL of an endpoint, such as https://"):
        open_objects(URL)
