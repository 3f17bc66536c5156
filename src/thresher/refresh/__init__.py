"""Revisiting pages: which ones, in what order, by conditional requests, and what had changed."""
