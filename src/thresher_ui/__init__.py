"""The interfaces beside the command line: screens in a browser, a REST API, and tools for AI agents (MCP)."""
