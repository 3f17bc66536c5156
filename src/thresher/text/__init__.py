"""Text processing: tokens (English stems, Chinese character bigrams), term vectors, languages."""
