"""The REST API: one table of operations, from which come its routes, its checks and its description."""
