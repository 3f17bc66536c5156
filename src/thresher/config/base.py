"""What the classes of topic.yaml share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
OptionalVariableName = Annotated[str, Field(pattern=r"^$|^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]


class StrictConfig(BaseModel):
    """A part of topic.yaml: an unknown key or a value of another type is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
