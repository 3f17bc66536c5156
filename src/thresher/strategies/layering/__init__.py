"""Learning how far pages are from a topic: context graphs, and the model that is made from them."""
