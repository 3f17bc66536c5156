"""Full-text search over a collection, in English and Chinese."""
