"""A Scrapy project that collects pages about music."""
