"""What the machines of one crawl share through the store besides its queue: definition, workers, orders, notes."""
