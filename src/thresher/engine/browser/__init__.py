"""Pages that scripts make: a Chromium that renders what the engine fetched, behind a proxy that keeps the guard."""
