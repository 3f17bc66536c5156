"""Watching a topic: rounds of revisits and new pages on a schedule, a digest of what changed, webhooks."""
