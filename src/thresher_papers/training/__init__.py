"""Training of strategies before a crawl: from an earlier crawl, or from a frozen web."""
