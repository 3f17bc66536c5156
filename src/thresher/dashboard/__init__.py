"""The dashboard: what a crawl does, to look at in a browser, with an API that says the same."""
