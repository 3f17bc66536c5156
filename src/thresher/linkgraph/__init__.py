"""Who links to whom, for the parts that ask: context graphs, rules, the oracle."""
