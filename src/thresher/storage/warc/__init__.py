"""WARC archives: writing, reading, indexing and selecting captures."""
