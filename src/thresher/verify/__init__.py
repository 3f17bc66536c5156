"""Whether the parts of a crawl agree with each other after a crash, and how they are brought to agree again."""
