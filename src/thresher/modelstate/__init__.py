"""State that learners save, restore and exchange: state stores, encoding of entries, refit schedules."""
