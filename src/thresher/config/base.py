"""What the classes of topic.yaml share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
OptionalVariableName = Annotated[str, Field(pattern=r"^$|^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
Languages = Annotated[
    Annotated[Literal["auto"], Tag("[auto]")] | Annotated[list[Language], Tag("[list]")],
    Discriminator(lambda value: "[auto]" if value == "auto" else "[list]"),  # so that an error names one of the two
]


class StrictConfig(BaseModel):
    """A part of topic.yaml: an unknown key or a value of another type is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
