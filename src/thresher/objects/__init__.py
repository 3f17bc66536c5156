"""Object storage: named contents under one URL, in a folder or in a bucket of a cloud.

The collection keeps the pages of a crawl there, and a shared frontier its cold URLs.
"""
