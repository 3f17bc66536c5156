"""The part of topic.yaml for labels by a language model."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from thresher.config.base import OptionalVariableName, StrictConfig


def _model_endpoint(text: str) -> str:
    try:
        parts = urlsplit(text)
        is_endpoint = parts.scheme in ("http", "https") and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        is_endpoint = False
    if not is_endpoint or "@" in text:
        raise ValueError(
            "expected the base URL of an endpoint without user, password and query, such as http://127.0.0.1:8080/v1"
        )
    return text


class ModelLabelsConfig(StrictConfig):
    """A language model that labels pages; the beginning of their text is sent to the endpoint."""

    endpoint: Annotated[str, AfterValidator(_model_endpoint)] = Field(
        description="Base URL of an endpoint compatible with OpenAI's, such as http://127.0.0.1:8080/v1."
    )
    model: str = Field(min_length=1, max_length=200, description="The model's name at the endpoint.")
    key_env: OptionalVariableName = Field(
        default="", description="The environment variable with the endpoint's key; empty when it needs none."
    )
    during_crawl: bool = Field(
        default=False, description="Whether pages are labelled during a run too, not only by thresher label --model."
    )
    pages_per_question: int = Field(
        default=5, ge=1, description="During a run: pages that are fetched for each question."
    )
    calls: int = Field(default=200, ge=1, description="Most requests to the endpoint, over all runs.")
    tokens: int | None = Field(
        default=None, ge=1, description="Most tokens, sent and received, over all runs; null for no limit."
    )
    cost: float | None = Field(
        default=None, gt=0, description="Most that all requests may cost, in the currency of the prices."
    )
    input_price: float = Field(default=0.0, ge=0, description="Price of a million tokens that are sent.")
    output_price: float = Field(default=0.0, ge=0, description="Price of a million tokens that are received.")
    timeout_seconds: float = Field(default=60.0, gt=0, description="How long to wait for a response.")
    logprobs: bool = Field(
        default=True, description="Whether log probabilities of tokens are requested, which tell how sure the model is."
    )
    reasoning: bool = Field(
        default=False,
        description="Whether the model reasons before it answers: then max_completion_tokens is sent in place of "
        "max_tokens, and neither temperature nor logprobs.",
    )

    @model_validator(mode="after")
    def _is_usable(self) -> ModelLabelsConfig:
        parts = urlsplit(self.endpoint)
        if self.key_env and parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise ValueError("a key is sent over https only, or to this machine; give an endpoint with https")
        if self.cost is not None and not (self.input_price or self.output_price):
            raise ValueError("cost needs the prices: give input_price and output_price, for a million tokens")
        return self
