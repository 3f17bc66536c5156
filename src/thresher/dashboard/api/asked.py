"""What may be asked, as strict typed classes: the parameters of addresses, and the bodies of requests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from thresher.urls.canonical import canonicalize

MOST_LABELS = 200


def _url(text: str) -> str:
    if canonicalize(text) is None:
        raise ValueError("not an http or https URL")
    return text


Url = Annotated[str, Field(min_length=1, max_length=4096, examples=["https://example.org/"]), AfterValidator(_url)]


class Query(BaseModel):
    """Parameters of an address: texts that must read as what they stand for."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Body(BaseModel):
    """A body: JSON, each value of its own type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Points(Query):
    """How finely a curve is drawn."""

    points: int = Field(default=200, ge=1, le=2000, description="Points of the curve at most.")


class PageList(Query):
    """Which pages are listed."""

    order: Literal["newest", "relevance"] = Field(default="newest", description="What comes first.")
    limit: int = Field(default=50, ge=1, le=500, description="How many.")
    offset: int = Field(default=0, ge=0, le=10_000_000, description="How many are passed over.")
    relevant: bool = Field(default=False, description="Only relevant pages.")


class OnePage(Query):
    """Which page."""

    url: Url = Field(description="Its address.")


class Waiting(Query):
    """How much of the queue."""

    limit: int = Field(default=50, ge=1, le=500, description="How many of the URLs that come next.")


class HostList(Query):
    """Which hosts are listed."""

    limit: int = Field(default=100, ge=1, le=1000, description="How many.")
    parked: bool = Field(default=False, description="Only those that are parked.")


class QuestionList(Query):
    """How many questions."""

    limit: int = Field(default=10, ge=1, le=50, description="How many.")
    boundary: bool = Field(default=False, description="Pages near the threshold, ten at most.")


class Search(Query):
    """What is looked for."""

    q: str = Field(max_length=2000, description="Words, in English or Chinese; quoted words stand next to each other.")
    limit: int = Field(default=20, ge=1, le=200, description="How many pages.")
    language: str = Field(default="", max_length=10, description="Only pages in this language.")
    host: str = Field(default="", max_length=300, description="Only pages of this host and of those below it.")


class Said(Body):
    """One word on a page."""

    url: Url = Field(description="The page.")
    relevant: bool | None = Field(description="Whether it is about the topic; null takes an earlier word back.")


class NewLabels(Body):
    """What a person says of pages."""

    labels: list[Said] = Field(min_length=1, max_length=MOST_LABELS, description="One for each page.")
    boundary: bool = Field(default=False, description="Report how the threshold moved.")


class Order(Body):
    """What a crawl is told to do."""

    do: Literal["start", "pause", "resume", "stop"] = Field(description="What; see `can` of the crawl.")
    pages: int | None = Field(default=None, ge=1, le=10**12, description="start: stop at so many pages.")
    minutes: float | None = Field(default=None, gt=0, le=10**7, description="start: stop after so many minutes.")
    workers: int = Field(default=1, ge=1, le=64, description="start: worker processes.")


class Budgets(Body):
    """When a run ends; null, or left out, where it stays as the run began."""

    pages: int | None = Field(default=None, ge=1, le=10**12, description="With so many pages.")
    relevant: int | None = Field(default=None, ge=1, le=10**12, description="With so many relevant ones.")
    minutes: float | None = Field(default=None, gt=0, le=10**7, description="After so many minutes.")
    harvest_below: float | None = Field(
        default=None, ge=0, le=1, description="When a smaller share of the last 500 pages was relevant."
    )


class Block(Body):
    """Why a host is asked no more."""

    reason: str = Field(default="", max_length=200, description="For people.")
