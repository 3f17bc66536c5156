"""The configuration of a crawl: its schema, its file, its folder."""
