"""Slow measurements, run by `make bench`."""
