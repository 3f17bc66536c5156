"""Public test suites and data sets: what they expect, beside what Thresher and other libraries return."""
