"""The frontier of many machines, in a store that speaks the Redis protocol."""
