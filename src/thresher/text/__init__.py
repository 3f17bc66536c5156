"""Text processing: tokens (stems of words, character bigrams of Chinese and others), term vectors, languages."""

OPEN = "und"
"""The code, of BCP 47, for the language of a phrase that may be in several; here, since topic.yaml is read by all."""
