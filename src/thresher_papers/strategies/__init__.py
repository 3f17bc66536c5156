"""Strategies of papers: one algorithm per file, named as in its paper."""
