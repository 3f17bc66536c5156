"""Simulated crawls over frozen webs, with a perfect judge and an oracle."""
