"""What a crawl of a given size needs: machines, RAM, disk, bandwidth and days, computed from measured constants."""
