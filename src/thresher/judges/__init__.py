"""Judges: classifiers that estimate whether a page is about the topic."""
