"""Text: words of English, character pairs of Chinese, and counts of them."""
