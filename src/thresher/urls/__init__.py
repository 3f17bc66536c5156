"""URLs: their one spelling, their host, their words, and what lies in scope."""
