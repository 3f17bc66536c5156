"""What can be seen of a crawl, each view as plain values: the API answers with them, the screens show them."""
