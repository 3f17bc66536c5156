"""Sources of seeds: search engines, indexes, encyclopedias, sitemaps, earlier crawls and bookmark files."""
