"""SVG charts and escaped HTML, for the dashboard, the Python API and reports."""
