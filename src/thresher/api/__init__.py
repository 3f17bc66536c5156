"""The Python API for programs and notebooks: `thresher.Topic`, `thresher.Crawl` and their results."""
