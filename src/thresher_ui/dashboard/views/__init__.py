"""Views of a crawl as plain values, for the REST API and the screens."""
