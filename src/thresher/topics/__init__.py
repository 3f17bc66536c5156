"""Topics: phrases, keywords, seeds, taxonomies."""
