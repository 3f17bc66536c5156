"""Numbers and failures of a crawl, as metrics and as reports."""
