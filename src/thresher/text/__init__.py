"""Text processing: tokens (stems of words, character bigrams of Chinese and others), term vectors, languages."""
