"""Settings of the frontier in a shared store."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from thresher.config.base import StrictConfig


def _cold_storage(text: str) -> str:
    if text and not text.startswith(("/", "file:///")):
        raise ValueError(f"{text!r} is neither an absolute path nor a file:/// URL; all machines must reach the folder")
    return text


class FrontierConfig(StrictConfig):
    """How many waiting URLs a shared store holds, and where the others are."""

    cold: Annotated[str, AfterValidator(_cold_storage)] = Field(
        default="",
        description="Folder for waiting URLs that are unlikely to be fetched soon: an absolute path or a file:/// URL; "
        "all machines must reach it. Without it, all URLs are in the store. Only with a shared store.",
    )
    hot_urls: int = Field(
        default=5_000_000, ge=1, description="Waiting URLs in the store above which the worse ones go to the folder."
    )
