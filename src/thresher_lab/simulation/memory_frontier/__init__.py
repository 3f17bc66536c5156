"""The frontier in memory, for simulations and tests."""
