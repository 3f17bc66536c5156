"""Frozen and generated webs: pages with known labels, served without a network."""
