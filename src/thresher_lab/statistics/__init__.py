"""Measures of crawls, their curves, and how certain a comparison is."""
