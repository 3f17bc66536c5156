"""Rows as experiments leave them, written by hand."""


def row(strategy, topic="tea", *, web="wikispeedia", seed_set=0, labels=(1, 2), **more):
    """A crawl of 20 fetches whose curve has two portions."""
    curves = {"labels": list(labels), "text": list(labels), "information": [value / 10 for value in labels]}
    name, _, given = strategy.partition(" ")
    parameters = dict([given.strip("()").split("=")]) if given else {}
    counts = {"relevant": 4, "own": 1, "only_context": 2, "context": 3}
    common = {"web": web, "topic": topic, "strategy": name, "seed_set": seed_set, "parameters": parameters}
    common |= {"judge": "perfect", "collected": 10, "collected_hits": labels[-1]}
    figures = {"pages": 20, "seeds": 3, "fetched": 20, "targets": 10, "harvest_rate": labels[-1] / 20}
    figures |= {"recall": labels[-1] / 10, "ms_per_page": 2.0, "urls": {"labels": counts, "text": counts}}
    return common | figures | {"portions": curves} | more
