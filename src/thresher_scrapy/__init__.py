"""Scrapy add-on that gives a spider a frontier, a judge and a strategy."""

try:
    import scrapy as _scrapy  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError('the Scrapy add-on needs Scrapy: pip install "thresher-crawler[scrapy]"') from error
