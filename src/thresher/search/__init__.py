"""Full text over a collection, in English and Chinese."""
