"""Trained models as files: JSON and arrays, no pickle."""
