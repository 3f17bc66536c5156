"""Interclass rules: which class of pages links to which (RULES)."""
