"""The page on metrics: what a worker serves to Prometheus, asked of the worker's own registry."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import Metric

from thresher.monitoring.http_endpoint import OPERATIONS, TIMED
from thresher.monitoring.prometheus import WorkerMetrics

OPERATION = "operation"


def metrics_page() -> str:
    """Write the page."""
    return "\n".join([*_beginning(), *map(_row, _families()), *_labels(), ""])


def _beginning() -> Iterator[str]:
    yield from ("# Metrics", "", "Written by `make docs` from the registry of a worker.", "")
    yield "`thresher run DIR --metrics-port 9100` serves these figures under `/metrics`; each further worker of a"
    yield "machine takes the next port. Counters and histograms are the worker's own: add them up. What begins with"
    yield "`thresher_crawl_` is about the whole crawl and the same from every worker: take the greatest. The usual"
    yield "`process_…` figures are there too. [Deploy](../howto/deploy.md) says what to look at first, and what"
    yield "`/healthz` and `/readyz` are for."
    yield from ("", "| name | kind | labels | meaning |", "|---|---|---|---|")


def _families() -> Iterator[Metric]:
    figures = WorkerMetrics(crawl="solar", worker="w1")
    for operation in _operations():  # made when the operation is first called
        figures.store_seconds(operation)
        figures.store_errors(operation)
    return (family for family in figures.registry.collect() if family.name.startswith("thresher_"))


def _row(family: Metric) -> str:
    name = f"{family.name}_total" if family.type == "counter" else family.name
    names = ", ".join(f"`{label}`" for label in family.samples[0].labels if label != "le")
    return f"| `{name}` | {family.type} | {names} | {family.documentation} |"


def _labels() -> Iterator[str]:
    yield from ("", "## Values of labels", "", "All labels come from closed sets, whatever strangers send.", "")
    yield from ("| label | of | values |", "|---|---|---|")
    for family in _families():
        for label in family.samples[0].labels:
            if label not in ("crawl", "worker", "version", "le"):
                values = dict.fromkeys(sample.labels[label] for sample in family.samples)
                yield f"| `{label}` | `{family.name}` | {', '.join(f'`{value}`' for value in values)} |"


def _operations() -> list[str]:
    return sorted(OPERATIONS.get(name, name) for name in TIMED)
