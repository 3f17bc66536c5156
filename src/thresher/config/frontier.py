"""Settings of the frontier in a shared store."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from thresher.config.base import StrictConfig
from thresher.errors import ConfigError
from thresher.urls.store_address import check_collection

OFF = "off"
COLD_FOLDER = "frontier"
"""The folder of a collection that has the cold URLs of its crawl."""


def _cold_storage(text: str) -> str:
    if text in ("", OFF) or text.startswith("/"):
        return text
    try:
        return check_collection(text)
    except ConfigError as error:
        raise ValueError(f"{error}; or an absolute path, or {OFF}") from error


class FrontierConfig(StrictConfig):
    """How many waiting URLs a shared store holds, and where the others are."""

    cold: Annotated[str, AfterValidator(_cold_storage)] = Field(
        default="",
        description="Where waiting URLs are kept that are unlikely to be fetched soon: s3://bucket/prefix, gs://…, "
        "az://…, file:///folder or an absolute path that all machines reach. By default the folder frontier of the "
        "collection, if there is one; off for none. Only with a shared store.",
    )
    hot_urls: int = Field(
        default=5_000_000, ge=1, description="Waiting URLs in the store above which the worse ones go to the storage."
    )

    def with_cold_in(self, collection: str) -> FrontierConfig:
        """Return these settings with the default filled in: `cold` is a storage, or empty for none."""
        default = f"{collection.rstrip('/')}/{COLD_FOLDER}" if collection else ""
        return self.model_copy(update={"cold": "" if self.cold == OFF else self.cold or default})
