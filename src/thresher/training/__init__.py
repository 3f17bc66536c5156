"""What strategies must learn before they crawl: from an earlier crawl, or from a frozen web."""
