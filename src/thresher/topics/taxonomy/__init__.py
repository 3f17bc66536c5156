"""Taxonomies such as ODP: imported into one SQLite file, searched, and used as classes."""
