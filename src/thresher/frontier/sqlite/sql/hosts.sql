-- Hosts, those with most pages first; parameters :now and :limit.
SELECT
    key, waiting, leased, pages, relevant, failed,
    coalesce(host.delay_seconds, setting.delay_seconds),
    max(0.0, next_time - :now, iif(park_end < 9e999, park_end - :now, 0.0)),
    best,
    iif(park_end > :now, parked_kind, ''), iif(park_end > :now, parked, '')
FROM host CROSS JOIN setting
ORDER BY pages DESC, key
LIMIT :limit;
