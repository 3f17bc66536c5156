-- Whether a URL was evicted from a full host; parameters :host and :fingerprint.
SELECT 1
FROM host CROSS JOIN evicted ON evicted.host = host.id
WHERE host.key = :host AND fingerprint = :fingerprint;
