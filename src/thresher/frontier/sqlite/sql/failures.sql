-- Failed URLs by host and reason, and the URLs that wait for parked hosts, unordered; parameters :now, :most_failed and
-- :most_parked.
SELECT host.key, coalesce(failed.reason_kind, ''), coalesce(failed.reason, ''), failed.urls, 0, NULL
FROM (
    SELECT host, reason_kind, reason, count(*) AS urls
    FROM url
    WHERE state = 3
    GROUP BY host, reason_kind, reason
    LIMIT :most_failed
) AS failed CROSS JOIN host ON host.id = failed.host
UNION ALL
SELECT key, parked_kind, parked, waiting, 1, iif(park_end < 9e999, max(park_end, next_time) - :now, NULL)
FROM (
    SELECT * FROM host WHERE stage = 4 AND park_end > :now AND waiting > 0 LIMIT :most_parked
);
