"""Capacity planning: machines, RAM, disk, bandwidth and days of a crawl, computed from measured constants."""
