"""Leases, fetches and renders pages: the only package that connects to the web."""
