"""Sitemaps as a source of URLs."""
