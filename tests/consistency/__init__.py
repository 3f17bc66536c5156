"""What the product reports is true: one or more tests per row of `rows.py`, named ``test_<row>_<sentence>``."""
