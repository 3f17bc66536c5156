"""Helpers that tests and benchmarks share: servers, processes, crawls under faults, clocks."""
