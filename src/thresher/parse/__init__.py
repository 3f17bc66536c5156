"""From bytes to a page: charset, text, links."""
