"""Batch jobs over all pages of a crawl: on this machine, or on a Ray cluster."""

JOBS = ("rejudge", "duplicates", "links")
