"""The command that collects training data."""
