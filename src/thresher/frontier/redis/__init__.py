"""The frontier of a crawl on many machines, in Redis or Valkey."""
