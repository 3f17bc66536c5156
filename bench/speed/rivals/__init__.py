"""Other crawlers on the same pages, as their users run them.

Each file is run by an environment that has its crawler installed; none of them is a dependency of ours.
``python -m bench.speed.speed --rivals PYTHON`` says whose Python that is.
"""
