"""Exports of the page store: rows, hosts, hubs, link graphs, OpenSearch."""
