-- Record that the requests of held leases are sent; parameters :fences, a JSON list, and :now.
INSERT OR IGNORE INTO begun
SELECT lease.fence
FROM json_each(:fences) AS each CROSS JOIN lease ON lease.fence = each.value
WHERE lease.until > :now;
