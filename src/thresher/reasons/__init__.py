"""Why URLs gave no page: kinds, details and messages; and how versions up to 0.2.0 stored them."""
