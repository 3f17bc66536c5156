"""Experiments beyond `thresher lab reproduce`: ITFIDF, URL tokens, the papers' suggestions."""
