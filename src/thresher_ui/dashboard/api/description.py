"""The OpenAPI 3.1 document, generated from the table of operations and its request and response classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from thresher import __version__
from thresher_ui.dashboard.api import responses
from thresher_ui.dashboard.api.operations import DESCRIPTION, EVENTS, OPERATIONS, Operation

_SCHEMA_REF = "#/components/schemas/{model}"
_ERRORS = {
    "400": "The request is invalid, or cannot be carried out with these values.",
    "401": "The token is missing or wrong.",
    "403": "The Host header is not allowed, or the request comes from another site.",
    "404": "There is no such crawl.",
    "405": "The method is not allowed.",
    "409": "Not possible in the current state of the crawl.",
    "413": "The body is too large.",
    "415": "The body is not JSON.",
    "503": "The store does not respond, or cannot be read.",
}
_ALL = ("400", "401", "403", "405", "413", "503")
_PARAMETERS = {
    "crawl": "The crawl's name.",
    "host": "The host, with its port unless that is the default.",
}


def describe(crawls: Sequence[str] = ()) -> dict[str, Any]:
    """Return the OpenAPI document; with `crawls`, their names are the only values of the parameter."""
    requests = [(model, "validation") for model in _models() if not issubclass(model, responses.ApiResponse)]
    results = [(model, "serialization") for model in _models() if issubclass(model, responses.ApiResponse)]
    _, schemas = models_json_schema([*requests, *results], ref_template=_SCHEMA_REF)  # type: ignore[list-item]
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    paths[EVENTS] = {"get": _events()}
    paths[DESCRIPTION] = {"get": _description()}
    if crawls:
        _limit_names(paths, crawls)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Thresher", "version": __version__, "description": "Status and control of crawls."},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _models() -> list[type[BaseModel]]:
    bodies = [operation.body for operation in OPERATIONS if operation.body]
    return [*bodies, *(operation.answer for operation in OPERATIONS), responses.ErrorResponse]


def _operation(operation: Operation) -> dict[str, Any]:
    more = ["404"] if "{crawl}" in operation.path else []
    more += ["409"] if operation.method != "GET" else []
    more += ["415"] if operation.body else []
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "parameters": [*_path_parameters(operation.path), *_query_parameters(operation.query)],
        "responses": {"200": _content(operation.summary, operation.answer), **_error_responses(*_ALL, *more)},
    }
    if operation.body:
        described["requestBody"] = {"required": True, "content": _json(operation.body)}
    return described


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "description": _PARAMETERS[name], "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _limit_names(paths: dict[str, Any], crawls: Sequence[str]) -> None:
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
    summary = "Server-sent events: `status`, with the status of the crawl, on every change, at most once a second."
    return {
        "operationId": "events",
        "summary": summary,
        "parameters": _path_parameters(EVENTS),
        "responses": {
            "200": {"description": summary, "content": {"text/event-stream": {"schema": {"type": "string"}}}},
            **_error_responses(*_ALL, "404", "409"),
        },
    }


def _description() -> dict[str, Any]:
    summary = "This OpenAPI document."
    return {
        "operationId": "description",
        "summary": summary,
        "responses": {
            "200": {"description": summary, "content": {"application/json": {"schema": {"type": "object"}}}},
            **_error_responses(*_ALL),
        },
    }


def _error_responses(*statuses: str) -> dict[str, Any]:
    return {status: _content(_ERRORS[status], responses.ErrorResponse) for status in sorted(set(statuses))}


def _content(description: str, model: type[BaseModel]) -> dict[str, Any]:
    return {"description": description, "content": _json(model)}


def _json(model: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _SCHEMA_REF.format(model=model.__name__)}}}
