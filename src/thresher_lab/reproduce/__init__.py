"""The papers' experiments on frozen webs: our figures beside theirs, and a verdict on every claim."""
