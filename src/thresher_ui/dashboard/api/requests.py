"""Requests of the API as strict typed classes: query parameters and bodies."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from thresher.urls.canonical import canonicalize

MAX_LABELS = 200


def _url(text: str) -> str:
    if canonicalize(text) is None:
        raise ValueError("not an http or https URL")
    return text


Url = Annotated[str, Field(min_length=1, max_length=4096, examples=["https://example.org/"]), AfterValidator(_url)]


class QueryRequest(BaseModel):
    """Query parameters: strings that are converted to the types of the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class BodyRequest(BaseModel):
    """A body: JSON, each value of its own type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class HarvestRequest(QueryRequest):
    """Query of the harvest curve."""

    points: int = Field(default=200, ge=1, le=2000, description="Maximum number of points.")


class PageListRequest(QueryRequest):
    """Query of a list of pages."""

    order: Literal["newest", "relevance"] = Field(default="newest", description="Sort order.")
    limit: int = Field(default=50, ge=1, le=500, description="Maximum number of pages.")
    offset: int = Field(default=0, ge=0, le=10_000_000, description="Number of pages to skip.")
    relevant: bool = Field(default=False, description="Only relevant pages.")
    topic: str = Field(default="", max_length=60, description="Only pages relevant to this one of several topics.")


class PageRequest(QueryRequest):
    """Query of one page."""

    url: Url = Field(description="URL of the page.")


class FrontierRequest(QueryRequest):
    """Query of the frontier."""

    limit: int = Field(default=50, ge=1, le=500, description="Maximum number of next URLs.")


class HostListRequest(QueryRequest):
    """Query of a list of hosts."""

    limit: int = Field(default=100, ge=1, le=1000, description="Maximum number of hosts.")
    parked: bool = Field(default=False, description="Only parked hosts.")


class QuestionListRequest(QueryRequest):
    """Query of the pages to label."""

    limit: int = Field(default=10, ge=1, le=50, description="Maximum number of pages.")


class SearchRequest(QueryRequest):
    """Query of a search."""

    q: str = Field(max_length=2000, description="Words in English or Chinese; quotes for a phrase.")
    limit: int = Field(default=20, ge=1, le=200, description="Maximum number of pages.")
    language: str = Field(default="", max_length=10, description="Only pages in this language.")
    host: str = Field(default="", max_length=300, description="Only pages of this host and its subdomains.")


class LabelRequest(BodyRequest):
    """Label of a page."""

    url: Url = Field(description="URL of the page.")
    relevant: bool | None = Field(description="Whether it is about the topic; null removes an earlier label.")


class NewLabelsRequest(BodyRequest):
    """New labels."""

    labels: list[LabelRequest] = Field(min_length=1, max_length=MAX_LABELS, description="One label per page.")


class ControlRequest(BodyRequest):
    """Command to a crawl."""

    do: Literal["start", "pause", "resume", "stop"] = Field(
        description="Command; `can` in the status lists those that are possible."
    )
    pages: int | None = Field(default=None, ge=1, le=10**12, description="start: limit of pages.")
    minutes: float | None = Field(default=None, gt=0, le=10**7, description="start: limit of minutes.")
    workers: int = Field(default=1, ge=1, le=64, description="start: number of worker processes.")


class BudgetsRequest(BodyRequest):
    """Limits of a run; a limit that is null or missing keeps the value that the run started with."""

    pages: int | None = Field(default=None, ge=1, le=10**12, description="Limit of pages.")
    relevant: int | None = Field(default=None, ge=1, le=10**12, description="Limit of relevant pages.")
    minutes: float | None = Field(default=None, gt=0, le=10**7, description="Limit of minutes.")
    harvest_below: float | None = Field(
        default=None, ge=0, le=1, description="End when the harvest rate of the last 500 pages is lower."
    )


class BlockRequest(BodyRequest):
    """Reason for parking a host."""

    reason: str = Field(default="", max_length=200, description="Text for users.")
