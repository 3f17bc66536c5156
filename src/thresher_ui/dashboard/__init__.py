"""The dashboard: crawls in a browser, and a REST API with the same data."""
