"""The dashboard in a browser: crawls to show, the pages of its screens, and a visitor."""
