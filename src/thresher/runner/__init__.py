"""A run: supervisor, worker processes, heartbeats, limits, shutdown."""
