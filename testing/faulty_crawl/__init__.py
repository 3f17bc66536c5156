"""Crawls under faults: what is done to them, what they are expected to survive, and what was measured."""
