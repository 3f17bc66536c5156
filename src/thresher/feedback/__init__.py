"""Labels and revised judgements: how they reach the judge, the page store and the frontier."""
