"""What the flagship learns from: the links it has seen, the words on them, the places they lead to."""
