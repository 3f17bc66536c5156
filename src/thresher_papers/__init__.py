"""The strategies, judges and trainers of research papers, for a crawl that names one of them.

The package `thresher` finds them by entry points, like those of any other package, and imports nothing from here.
"""
