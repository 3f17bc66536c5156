"""Name resolution with an address guard, a cache, prefetch and a limit per address."""
