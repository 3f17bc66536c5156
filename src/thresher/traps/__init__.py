"""Sites that make up pages without end, known by what their pages have in common."""
