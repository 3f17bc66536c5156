"""Stand-ins of services that find seeds, on loopback, after the documentation of their formats."""
