"""The lab: frozen webs, simulated crawls, and statistics of their results."""
