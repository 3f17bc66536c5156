"""Judges of papers: classifiers that are trained, their estimators and their files."""
