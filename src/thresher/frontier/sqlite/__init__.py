"""The frontier of a crawl on one machine, in an SQLite file."""
