"""How a browser comes by the token, and what the answers around it look like."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from thresher.errors import ConfigError, CrawlBusy, StoreUnreachable, ThresherError
from thresher_ui.dashboard.errors import Refused
from thresher_ui.dashboard.guard import Guard, names_of
from thresher_ui.dashboard.login import login_route
from thresher_ui.dashboard.security import MAX_BODY_BYTES, SecurityMiddleware

PLACE = "http://127.0.0.1:8765"
OWN_PAGE = {"Origin": PLACE, "Sec-Fetch-Site": "same-origin"}


async def hello(request):
    return PlainTextResponse("hello", headers={"cache-control": "max-age=60"})


async def echo(request):
    return PlainTextResponse((await request.body()).decode())


async def broken(request):
    error = request.query_params["error"]
    raise {
        "ours": ThresherError("it runs already"),
        "busy": CrawlBusy(Path("solar")),
        "config": ConfigError("no such thing"),
        "refused": Refused(418, "a teapot\x1b[0m"),
        "away": StoreUnreachable("the store does not answer"),
        "bug": ZeroDivisionError("/secret/path"),
    }[error]


@pytest.fixture
def guard():
    return Guard(names_of("127.0.0.1", 8765), cookie="thresher-8765")


@pytest.fixture
def client(guard):
    routes = [
        login_route(guard),
        Route("/", hello),
        Route("/static/x", hello),
        Route("/echo", echo, methods=["POST"]),
        Route("/broken", broken),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(SecurityMiddleware, guard=guard)])
    with TestClient(app, base_url=PLACE, follow_redirects=False) as client:
        yield client


def cookie_of(response):
    return response.headers["set-cookie"]


def test_the_printed_address_logs_in_once_and_is_left(client, guard):
    first = client.get(f"/login?key={guard.key}")
    assert (first.status_code, first.headers["location"]) == (303, "/")
    assert "httponly" in cookie_of(first).lower()
    assert "samesite=strict" in cookie_of(first).lower()
    assert "domain" not in cookie_of(first).lower()
    assert client.get("/").text == "hello"


@pytest.mark.parametrize("secure", [True, False])
def test_the_cookie_is_for_https_alone_where_that_is_how_browsers_come(client, guard, secure):
    guard.secure = secure
    cookie = cookie_of(client.post("/login", data={"token": guard.token}, headers=OWN_PAGE))
    assert ("Secure" in cookie) is secure
    assert "HttpOnly" in cookie


def test_a_second_browser_cannot_use_it(client, guard):
    address = f"/login?key={guard.key}"
    client.get(address)
    assert client.get(address).status_code == 303  # the one that has the cookie
    client.cookies.clear()
    again = client.get(address)
    assert again.status_code == 401
    assert "used before" in again.text
    assert guard.token not in again.text


def test_only_looking_at_the_address_does_not_use_it_up(client, guard):
    assert client.head(f"/login?key={guard.key}").status_code == 401
    assert client.get(f"/login?key={guard.key}").status_code == 303


def test_the_token_can_be_typed(client, guard):
    wrong = client.post("/login", data={"token": "wrong"}, headers=OWN_PAGE)
    right = client.post("/login", data={"token": f" {guard.token} "}, headers=OWN_PAGE)
    assert (wrong.status_code, right.status_code) == (401, 303)
    assert client.get("/").text == "hello"


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "multipart/form-data; boundary=x"])
def test_only_a_form_is_read(client, guard, kind):
    response = client.post("/login", content=f"token={guard.token}", headers={**OWN_PAGE, "Content-Type": kind})
    assert response.status_code == 401


def test_who_has_no_token_sees_how_to_come_by_it(client):
    page = client.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 401
    assert 'method="post" action="/login">' in page.text
    assert client.get("/").json().keys() == {"error"}


def test_every_answer_carries_the_headers(client, guard):
    bearer = {"Authorization": f"Bearer {guard.token}"}
    for response in (client.get("/"), client.get("/", headers=bearer), client.get("/nowhere", headers=bearer)):
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["cache-control"] == "no-store"
    assert client.get("/static/x", headers=bearer).headers["cache-control"] == "max-age=60"
    assert client.get("/static/x").headers["cache-control"] == "no-store"


def test_a_body_that_is_too_large_is_refused_whether_it_says_so_or_not(client, guard):
    bearer = {"Authorization": f"Bearer {guard.token}"}
    fitting, large = b"a" * MAX_BODY_BYTES, b"a" * (MAX_BODY_BYTES + 1)
    assert client.post("/echo", content=fitting, headers=bearer).status_code == 200
    assert client.post("/echo", content=large, headers=bearer).status_code == 413
    assert client.post("/echo", content=iter([fitting, b"a"]), headers=bearer).status_code == 413


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        ("ours", 409, "it runs already"),
        ("config", 400, "no such thing"),
        ("refused", 418, "a teapot\N{REPLACEMENT CHARACTER}[0m"),
        ("away", 503, "the store does not answer"),
    ],
)
def test_errors_of_ours_are_reported_in_words(client, guard, error, status, words):
    response = client.get(f"/broken?error={error}", headers={"Authorization": f"Bearer {guard.token}"})
    assert (response.status_code, response.json()) == (status, {"error": words})


def test_a_browser_reads_errors_in_its_language_and_a_program_in_english(client, guard):
    headers = {"Authorization": f"Bearer {guard.token}", "Accept-Language": "zh-CN"}
    program = client.get("/broken?error=busy", headers=headers)
    browser = client.get("/broken?error=busy", headers={**headers, "Accept": "text/html, application/json"})
    assert program.json()["error"].startswith("a run of solar is under way")
    assert browser.json()["error"].startswith("solar 正在运行")


def test_the_login_page_is_in_the_language_of_the_browser(client):
    chinese = client.get("/login?key=used", headers={"Accept": "text/html", "Accept-Language": "zh"})
    assert '<html lang="zh-Hans">' in chinese.text
    assert "登录" in chinese.text
    assert "此地址已经用过。" in chinese.text
    assert "Log in" in client.get("/login").text


def test_errors_that_nobody_meant_tell_nothing(client, guard, caplog):
    response = client.get("/broken?error=bug", headers={"Authorization": f"Bearer {guard.token}"})
    assert response.status_code == 500
    assert "secret" not in response.text
    assert "secret" in caplog.text


def test_a_header_that_comes_twice_is_not_believed(client, guard):
    twice = [("Authorization", f"Bearer {guard.token}"), ("Host", "127.0.0.1:8765"), ("Host", "127.0.0.1:8765")]
    assert client.get("/", headers=twice).status_code == 403
