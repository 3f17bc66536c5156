"""Judges that train a classifier on the seeds against the pages of the crawl."""
