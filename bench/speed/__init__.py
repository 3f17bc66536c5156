"""How fast: pages, stages, strategies, screens, beside other crawlers."""
