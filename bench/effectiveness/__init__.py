"""How well: strategies, judges, labels, forecasts, refresh."""
