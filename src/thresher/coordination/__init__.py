"""What the machines of one crawl share through the store besides the frontier: definition, workers, orders, state."""
