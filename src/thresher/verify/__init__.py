"""Consistency checks of a crawl after a crash, and their repair."""
