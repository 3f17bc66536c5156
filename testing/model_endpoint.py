"""A stand-in for the endpoint of a language model, on a port of this machine; it can also misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body."""


def completion(content: object, *, logprobs: Mapping[str, float] | None = None, tokens: tuple[int, int] = (100, 1)):
    """Return a well-formed response with this content."""
    choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    if logprobs:
        top = [{"token": token, "logprob": value, "bytes": None} for token, value in logprobs.items()]
        choice["logprobs"] = {"content": [{**top[0], "top_logprobs": top}], "refusal": None}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


def page_of(request: Mapping[str, Any]) -> str:
    """Return what a request holds of the page, without its markers."""
    return "\n".join(str(request["messages"][1]["content"]).split("\n")[1:-1])


class ModelEndpoint:
    """A running endpoint.

    Args:
        answer: Returns the reply to the JSON of a request.
    """

    def __init__(self, answer: Callable[[dict[str, Any]], Reply], *, delay_seconds: float = 0.0) -> None:
        self.answer = answer
        self.delay_seconds = delay_seconds
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        self._closing = threading.Event()
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                endpoint.requests.append(request)
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                endpoint._closing.wait(endpoint.delay_seconds)
                status, headers, body = endpoint.answer(request)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

            def handle(self) -> None:
                with suppress(OSError):  # the client did not wait
                    super().handle()

        return Handler

    def close(self) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def model_endpoint(answer: Callable[[dict[str, Any]], Reply], *, delay_seconds: float = 0.0) -> Iterator[ModelEndpoint]:
    """Run an endpoint for a while."""
    endpoint = ModelEndpoint(answer, delay_seconds=delay_seconds)
    try:
        yield endpoint
    finally:
        endpoint.close()
