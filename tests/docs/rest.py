"""The page on the REST API: written from the description that the dashboard serves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from thresher_ui.dashboard.api.description import describe

Described = dict[str, Any]


def rest_page() -> str:
    """Write the page."""
    document = describe()
    operations = [
        (method, path, reported) for path, found in document["paths"].items() for method, reported in found.items()
    ]
    lines = [*_beginning(), "| operation | does |", "|---|---|"]
    lines += [f"| `{method.upper()} {path}` | {reported['summary']} |" for method, path, reported in operations]
    for method, path, reported in operations:
        lines += _operation(method, path, reported)
    lines += ["", "## Objects"]
    for name, schema in sorted(document["components"]["schemas"].items()):
        lines += _object(name, schema)
    return "\n".join([*lines, ""])


def _beginning() -> Iterator[str]:
    yield from ("# REST API of the dashboard", "")
    yield "Written by `make docs` from the description that the dashboard serves at `/api/openapi.json` (OpenAPI 3.1)."
    yield "Every request carries the token: `Authorization: Bearer …`. Bodies are JSON of at most 64 KiB. What is not"
    yield 'done is answered with `{"error": "why"}`. See [how to use it](../howto/dashboard.md).'
    yield ""


def _operation(method: str, path: str, reported: Described) -> Iterator[str]:
    yield from ("", f"## {reported['operationId']}", "", f"`{method.upper()} {path}`: {reported['summary']}", "")
    if asked := [parameter for parameter in reported.get("parameters", ()) if parameter["in"] == "query"]:
        yield from ("| parameter | default | meaning |", "|---|---|---|")
        yield from (f"| `{one['name']}` | {_default(one)} | {one['description']} |" for one in asked)
        yield ""
    if "requestBody" in reported:
        yield from (f"Takes {_content(reported['requestBody'])}.", "")
    right, *wrong = reported["responses"]
    yield f"Answers {_content(reported['responses'][right])}; or {', '.join(sorted(wrong))}."


def _default(parameter: Described) -> str:
    return "(must be given)" if parameter["required"] else f"`{json.dumps(parameter['schema']['default'])}`"


def _content(reported: Described) -> str:
    [(kind, content)] = reported["content"].items()
    return _type(content["schema"]) if "$ref" in content["schema"] else f"`{kind}`"


def _object(name: str, schema: Described) -> Iterator[str]:
    yield from ("", f"### Object {name}", "", schema["description"], "", "| key | type | meaning |", "|---|---|---|")
    for key, reported in schema["properties"].items():
        yield f"| `{key}` | {_type(reported)} | {reported.get('description', '')} |"


def _type(schema: Described) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#object-{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if isinstance(more := schema.get("additionalProperties"), dict):
        return f"{_type(more)} by name"
    return str(schema["type"])
