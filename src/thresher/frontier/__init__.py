"""The queue of a crawl: what waits, who may be asked, what is being fetched."""
