"""Comparisons as HTML reports, tables and charts."""
