"""The frontier of a crawl: waiting URLs by host and score, leases, host delays, and state that workers share."""
