"""Scrapy add-on that gives a spider a frontier, a judge and a strategy."""
