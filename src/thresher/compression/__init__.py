"""Compression of what is stored."""
