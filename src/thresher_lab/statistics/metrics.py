"""Metrics of a crawl: one function per formula.

A crawl is a sequence of fetches in their order, seeds first. Every fetch counts, also of a dead link; each function
takes the columns that it needs, one value per fetch:

    hits         is the page relevant (for recall and all that builds on it: is it one of the targets)
    relevances   the classifier's score of the page, or its information; 0 for a dead link
    hosts        the page's host
    pages        the page's URL or number

Notation: h(k) = hits among the first k fetches, m = length of the crawl, R = number of targets.

A crawl may be shorter than its budget, when its frontier ran dry. Nothing is found after its end, so every curve stays
flat up to the budget: h(k) = h(m) for k > m, and with it recall, harvest rate and information. A longer crawl is cut
at the budget. None means that a figure does not exist, such as the page at which a recall was reached that never was.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

Hits = Sequence[bool] | NDArray[np.bool_]
Scores = Sequence[float] | NDArray[np.float64]
Curve = NDArray[np.float64]
"""A value after each of the fetches 1 to budget."""

WEB_SHARES = (0.01, 0.02, 0.05, 0.10, 0.20)
RECALL_LEVELS = (0.50, 0.90, 0.95)


def running_sum(values: ArrayLike, budget: int) -> Curve:
    """Add up the values of the first k fetches, for k = 1 … budget: of hits it gives h(k).

    Raises:
        ValueError: The budget is below 1.
    """
    if budget < 1:
        raise ValueError(f"the budget must be at least 1 fetch, got {budget}")
    sums = np.cumsum(np.asarray(values, dtype=np.float64)[:budget])
    last = sums[-1] if sums.size else 0.0
    return np.pad(sums, (0, budget - sums.size), constant_values=last)


def harvest_rate_curve(hits: Hits, budget: int) -> Curve:
    """Harvest rate = relevant / fetched = h(k) / min(k, m), for k = 1 … budget."""
    fetched = running_sum(np.ones(len(hits)), budget)
    return running_sum(hits, budget) / np.maximum(fetched, 1)


def harvest_rate_at(hits: Hits, k: int) -> float:
    """Harvest rate after k fetches, h(k) / min(k, m)."""
    return float(harvest_rate_curve(hits, k)[-1])


def harvest_ratio(relevances: Scores) -> float:
    """Harvest ratio = Σ relevance / m, the mean score over all fetched pages; 0 for an empty crawl."""
    return sum_of_information(relevances) / max(len(relevances), 1)


def sum_of_information(relevances: Scores) -> float:
    """Sum of information = Σ relevance over all fetches."""
    return float(sum(relevances))


def recall_curve(hits: Hits, target_count: int, budget: int) -> Curve:
    """Target recall = h(k) / R, for k = 1 … budget.

    Raises:
        ValueError: There are no targets.
    """
    if target_count < 1:
        raise ValueError(f"recall needs at least 1 target, got {target_count}")
    return running_sum(hits, budget) / target_count


def recall_at_shares(
    hits: Hits, target_count: int, page_count: int, shares: Sequence[float] = WEB_SHARES
) -> dict[float, float]:
    """Target recall when a share of the web was fetched: h(k) / R at k = share · pages of the web.

    k is rounded, and at least 1.
    """
    counts = {share: max(1, round(share * page_count)) for share in shares}
    curve = recall_curve(hits, target_count, max(counts.values()))
    return {share: float(curve[k - 1]) for share, k in counts.items()}


def harvest_at_targets(hits: Hits, target_count: int) -> float:
    """HR@R = h(R) / R, the precision when as many pages were fetched as there are targets.

    It divides by R, not by m, also when the crawl ended before: an early stop must not win.
    """
    return float(recall_curve(hits, target_count, target_count)[-1])


def pages_to_recall(hits: Hits, target_count: int, share: float) -> int | None:
    """Count the fetches until a share of the targets is found: min {k : h(k) >= share · R}; None when never.

    Raises:
        ValueError: The share is not above 0 and at most 1.
    """
    if not 0 < share <= 1:
        raise ValueError(f"the share must be above 0 and at most 1, got {share}")
    wanted = ceil(share * target_count - 1e-9)  # 0.07 * 100 is a little more than 7
    found = running_sum(hits, max(len(hits), 1))
    k = int(np.searchsorted(found, wanted)) + 1
    return k if k <= len(hits) else None


def hits_area(hits: Hits, budget: int) -> float:
    """Area under the curve of hits, Σ h(k) over k = 1 … budget."""
    return float(running_sum(hits, budget).sum())


def normalised_area(hits: Hits, target_count: int, budget: int) -> float:
    """Normalised area under the recall curve: the mean of h(k) / R over k = 1 … budget, from 0 to 1."""
    return float(recall_curve(hits, target_count, budget).mean())


def percent_of_oracle(hits: Hits, oracle_hits: Hits, budget: int) -> float:
    """The headline figure: area under the crawl's hits per area under the oracle's, 100 · Σ h(k) / Σ o(k).

    The ratio of areas, not the mean of ratios: there the first few fetches, where the oracle has one or two hits,
    would weigh as much as all the rest. `mean_percent_of_oracle` is the other reading.

    Raises:
        ValueError: The oracle finds nothing within the budget.
    """
    return 100 * hits_area(hits, budget) / _some(hits_area(oracle_hits, budget), budget)


def mean_percent_of_oracle(hits: Hits, oracle_hits: Hits, budget: int) -> float:
    """The mean of 100 · h(k) / o(k) over those k = 1 … budget where the oracle has a hit, o(k) > 0.

    Raises:
        ValueError: The oracle finds nothing within the budget.
    """
    found, best = running_sum(hits, budget), running_sum(oracle_hits, budget)
    _some(float(best[-1]), budget)
    return float(100 * np.mean(found[best > 0] / best[best > 0]))


def _some(oracle_found: float, budget: int) -> float:
    if not oracle_found:
        raise ValueError(f"the oracle finds no target in {budget} fetches: no crawl can be measured by it")
    return oracle_found


def distinct_relevant_hosts(hits: Hits, hosts: Sequence[str]) -> int:
    """Count the different hosts of the relevant pages."""
    return len({host for hit, host in zip(hits, hosts, strict=True) if hit})


def bytes_per_relevant_page(hits: Hits, byte_counts: Sequence[int]) -> float | None:
    """All bytes fetched, Σ bytes / h(m); None when no page was relevant."""
    found = int(sum(hits))
    return sum(byte_counts) / found if found else None


def url_overlap(
    a: Iterable[Hashable], b: Iterable[Hashable], *, seeds: Iterable[Hashable] = (), limit: int | None = None
) -> float:
    """URL overlap = |A ∩ B| / N, A and B the first N pages of the two crawls, seeds left out.

    Args:
        a: The pages of one crawl in the order of their fetches.
        b: The pages of the other.
        seeds: Pages that were given, not found.
        limit: The largest N; without it, and when a crawl ends before, N is the length of the shorter one.
    """
    first_a, first_b = _first_pages(a, b, seeds, limit)
    return len(first_a & first_b) / len(first_a) if first_a else 0.0


def exclusive_harvest(
    a: Mapping[Hashable, float],
    b: Mapping[Hashable, float],
    *,
    seeds: Iterable[Hashable] = (),
    limit: int | None = None,
) -> tuple[float | None, float | None]:
    """Exclusive harvest: the harvest ratio over A ∖ B and over B ∖ A; None where there is no such page.

    Args:
        a: The score of each page of one crawl, in the order of their fetches.
        b: The same for the other.
        seeds: As in `url_overlap`.
        limit: As in `url_overlap`.
    """
    first_a, first_b = _first_pages(a, b, seeds, limit)
    only_a = [a[page] for page in first_a - first_b]
    only_b = [b[page] for page in first_b - first_a]
    return (harvest_ratio(only_a) if only_a else None, harvest_ratio(only_b) if only_b else None)


def _first_pages(
    a: Iterable[Hashable], b: Iterable[Hashable], seeds: Iterable[Hashable], limit: int | None
) -> tuple[set[Hashable], set[Hashable]]:
    given = set(seeds)
    found_a = list(dict.fromkeys(page for page in a if page not in given))
    found_b = list(dict.fromkeys(page for page in b if page not in given))
    N = min(len(found_a), len(found_b))
    N = N if limit is None else min(N, limit)
    return set(found_a[:N]), set(found_b[:N])
