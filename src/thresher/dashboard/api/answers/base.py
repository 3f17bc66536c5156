"""What every answer is; one that says why not; and the description of them all."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

Parts = dict[str, float]


class Answer(BaseModel):
    """An object with these keys and no others."""

    model_config = ConfigDict(extra="forbid")


class Wrong(Answer):
    """Why it was not done."""

    error: str


class Description(BaseModel):
    """An OpenAPI document."""

    model_config = ConfigDict(extra="allow")

    openapi: str
    paths: dict[str, Any]
