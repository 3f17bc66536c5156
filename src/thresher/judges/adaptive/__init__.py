"""The default judge: it starts from the topic's words and examples, and learns from the pages of the crawl."""
