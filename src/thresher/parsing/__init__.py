"""Parsing of responses: charset, text, links."""
