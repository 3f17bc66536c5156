"""Visiting pages again: which ones, in what order, how a server is asked only for news, and what had changed."""
