"""Predicting how far pages are from a topic: context graphs, and the model trained on them."""
