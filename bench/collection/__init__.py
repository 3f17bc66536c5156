"""The collection: search, export, duplicates, main text, and what survives kills."""
