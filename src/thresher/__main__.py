"""`python -m thresher` is the command line."""

from thresher.cli import main

main()
