"""The page store: every settled fetch with its provenance, and ways out of it."""
