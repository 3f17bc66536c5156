"""Crawl strategies: one algorithm per file, named as in its paper."""
