"""What Python programs and notebooks meet: `thresher.Topic`, `thresher.Crawl` and what these answer with."""
