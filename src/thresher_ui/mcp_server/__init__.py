"""A server for AI agents over the Model Context Protocol: crawls as tools, with page text marked as untrusted."""
