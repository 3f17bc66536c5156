"""What the frontiers cost: SQLite and the shared store."""
