"""The only package that knows Scrapy."""
