"""scikit-learn estimators over term counts, as the papers define them."""
