"""Politeness per host: robots.txt, backoff, page budgets."""
