"""The API described in OpenAPI 3.1, made from the table of operations and the classes that check and answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from thresher import __version__
from thresher.dashboard.api import answers
from thresher.dashboard.api.operations import DESCRIPTION, EVENTS, OPERATIONS, Operation

_PLACE = "#/components/schemas/{model}"
_WRONG = {
    "400": "What was asked cannot be read, or cannot be done as asked.",
    "401": "The token is missing.",
    "403": "Asked under another name, or from a page of another site.",
    "404": "There is no such crawl.",
    "405": "This address takes another method.",
    "409": "It cannot be done as the crawl stands.",
    "413": "The body is too large.",
    "415": "The body is not JSON.",
    "503": "The store does not answer, or cannot be read.",
}
_ALL = ("400", "401", "403", "405", "413", "503")
_PARAMETERS = {
    "crawl": "The crawl's name.",
    "host": "The host, with its port when that is not the usual one.",
}


def describe(crawls: Sequence[str] = ()) -> dict[str, Any]:
    """Return the OpenAPI document; with the names of crawls, that of a dashboard that shows these."""
    taking = [(model, "validation") for model in _models() if not issubclass(model, answers.Answer)]
    giving = [(model, "serialization") for model in _models() if issubclass(model, answers.Answer)]
    _, schemas = models_json_schema([*taking, *giving], ref_template=_PLACE)  # type: ignore[list-item]
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    paths[EVENTS] = {"get": _events()}
    paths[DESCRIPTION] = {"get": _description()}
    if crawls:
        _name(paths, crawls)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Thresher", "version": __version__, "description": "What a crawl does, and what it is told."},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _models() -> list[type[BaseModel]]:
    bodies = [operation.body for operation in OPERATIONS if operation.body]
    return [*bodies, *(operation.answer for operation in OPERATIONS), answers.Wrong]


def _operation(operation: Operation) -> dict[str, Any]:
    more = ["404"] if "{crawl}" in operation.path else []
    more += ["409"] if operation.method != "GET" else []
    more += ["415"] if operation.body else []
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_path_parameters(operation.path), *_query_parameters(operation.query)],
        "responses": {"200": _content(operation.summary, operation.answer), **_wrong(*_ALL, *more)},
    }
    if operation.body:
        described["requestBody"] = {"required": True, "content": _json(operation.body)}
    return described


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "description": _PARAMETERS[name], "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _name(paths: dict[str, Any], crawls: Sequence[str]) -> None:
    """Say which crawls there are."""
    for operations in paths.values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "crawl":
                    parameter["schema"] = {"type": "string", "enum": list(crawls)}


def _query_parameters(query: type[BaseModel]) -> list[dict[str, Any]]:
    schema = query.model_json_schema()
    required = schema.get("required", ())
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": described.pop("description", ""),
            "schema": {key: value for key, value in described.items() if key != "title"},
        }
        for name, described in schema.get("properties", {}).items()
    ]


def _events() -> dict[str, Any]:
    words = "Server-sent events: `status`, with the crawl in numbers, whenever they change, once a second at most."
    return {
        "operationId": "events",
        "summary": words,
        "parameters": _path_parameters(EVENTS),
        "responses": {
            "200": {"description": words, "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            **_wrong(*_ALL, "404", "409"),
        },
    }


def _description() -> dict[str, Any]:
    words = "This description."
    return {
        "operationId": "description",
        "summary": words,
        "responses": {
            "200": {"description": words, "content": {"application/json": {"schema": {"type": "object"}}}},
            **_wrong(*_ALL),
        },
    }


def _wrong(*statuses: str) -> dict[str, Any]:
    return {status: _content(_WRONG[status], answers.Wrong) for status in sorted(set(statuses))}


def _content(words: str, model: type[BaseModel]) -> dict[str, Any]:
    return {"description": words, "content": _json(model)}


def _json(model: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _PLACE.format(model=model.__name__)}}}
