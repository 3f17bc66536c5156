"""The strategies and judges of this repository by name, with their locations; those of other crawlers left out."""

from thresher import registry
from thresher_lab.peers import peers

STRATEGIES = {name: place for name, place in registry.known("strategy").items() if name not in peers()}
JUDGES = registry.known("judge")
