"""Crawling strategies of other people, as their sources have them, to be compared with; docs/explanation/peers.md."""
