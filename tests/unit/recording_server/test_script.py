import pytest

from testing.recording_server.answers import bomb, page, redirect
from testing.recording_server.data import from_data, read_script, to_data, write_script
from testing.recording_server.places import connect_to, place
from testing.recording_server.script import Answer, Fill, Generated, Packed, Request, Router


def ask(host: str, target: str, *, address: str = "127.0.0.9", number: int = 1) -> Request:
    return Request(method="GET", host=host, address=address, target=target, headers=(), number=number)


@pytest.mark.parametrize(
    ("host", "target", "status"),
    [
        ("a.test", "/", 201),
        ("a.test", "/x", 202),
        ("a.test", "/x?q=1", 203),
        ("a.test", "/x?q=2", 202),
        ("a.test", "/deep/er", 204),
        ("a.test", "/page-7", 205),
        ("a.test", "/page-seven", 209),
        ("b.maze.test", "/anything", 206),
        ("maze.test", "/anything", 209),
        ("other.test", "/here", 207),
        ("127.0.0.9", "/here", 207),
    ],
)
def test_a_request_finds_its_answer_by_host_and_path(host, target, status):
    router = Router(
        {
            "a.test": {"/": 201, "/x": 202, "/x?q=1": 203, "/deep/*": 204, "~/page-[0-9]+": 205},
            "*.maze.test": {"/*": 206},
            "127.0.0.9": {"/here": 207},
            "*": {"/*": 209},
        }
    )
    assert router.find(ask(host, target)) == Answer(status=status)


def test_what_is_not_scripted_has_no_answer():
    assert Router({"a.test": {"/": 200}}).find(ask("a.test", "/b")) is None


def test_the_kth_request_gets_the_kth_answer_and_the_last_one_for_good():
    router = Router({"a.test": {"/": [200, "text", 404]}})
    found = [router.find(ask("a.test", "/", number=router.count("a.test", "/"))) for _ in range(4)]
    assert found == [Answer(), Answer(body="text"), Answer(status=404), Answer(status=404)]


def own_function(request, word):
    return f"{word} {request.path} {request.query}"


def test_a_function_answers_from_the_request():
    router = Router({"a.test": {"/*": Generated(f"{__name__}:own_function", {"word": "see"})}})
    assert router.find(ask("a.test", "/x?y=1")) == Answer(body="see /x y=1")


SCRIPT = {
    "a.test": {
        "/": page("Title", "text", {"/a?b=1&c=2": "words"}),
        "/bytes": b"\xff\0",
        "/list": [503, redirect("/x", 301), "text"],
        "/bomb": bomb(1 << 40, "br", "gzip", bytes_per_second=5.0),
        "/fill": Answer(body=Fill(size=None, pattern=b"\x80"), hang_after=10),
        "/file": Answer(body=Packed(body="<xml/>", declared=False)),
        "/maze": Generated("markov", {"links": 3}),
    }
}


def test_a_script_survives_json(tmp_path):
    path = tmp_path / "script.json"
    write_script(SCRIPT, path)
    again = read_script(path)
    assert to_data(again) == to_data(SCRIPT)
    assert again["a.test"]["/bytes"] == b"\xff\0"
    assert again["a.test"]["/fill"] == SCRIPT["a.test"]["/fill"]
    assert from_data(to_data(SCRIPT["a.test"]["/maze"])) == SCRIPT["a.test"]["/maze"]


def test_a_script_can_be_a_python_file(tmp_path):
    path = tmp_path / "script.py"
    path.write_text('SCRIPT = {"a.test": {"/": 200}}')
    assert read_script(path) == {"a.test": {"/": 200}}


def test_every_name_has_an_address_of_its_own_unless_they_share_one():
    hosts = ["a.test", "127.0.0.3", "*.maze.test", "b.test:8080"]
    assert place(hosts, taken=["127.0.0.2"]) == {
        "127.0.0.3": "127.0.0.3",
        "*": "127.0.0.4",
        "a.test": "127.0.0.5",
        "b.test:8080": "127.0.0.6",
    }
    assert set(place(hosts, one_address=True).values()) == {"127.0.0.3", "127.0.0.2"}


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_an_address_that_cannot_be_served_is_refused(address):
    with pytest.raises(ValueError, match=r"127\.0\.0\.2 and above, got"):
        place([address])


def test_every_name_leads_to_the_recorder():
    places = {"*": "127.0.0.4", "127.0.0.3": "127.0.0.3", "a.test": "127.0.0.5", "b.test:8080": "127.0.0.6"}
    assert connect_to(places, 1000, 2000) == {
        "*:80": "127.0.0.4:1000",
        "*:443": "127.0.0.4:2000",
        "a.test:80": "127.0.0.5:1000",
        "b.test:8080": "127.0.0.6:1000",
    }
