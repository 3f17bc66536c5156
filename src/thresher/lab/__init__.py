"""The lab: frozen webs, simulated crawls, and what their figures are worth."""
