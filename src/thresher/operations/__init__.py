"""What the command line, the Python API and the dashboard share: create, explain, label, refresh a crawl."""
