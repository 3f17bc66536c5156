-- When `lease` may return something; parameter :now.
SELECT min(time) FROM (
    SELECT :now AS time WHERE EXISTS (SELECT 1 FROM host WHERE stage = 1)
    UNION ALL  -- hosts that woke since they were last written
    SELECT min(next_time) FROM host CROSS JOIN setting WHERE wake <= :now AND leased < leases_per_host
    UNION ALL  -- sleeping hosts
    SELECT min(wake) FROM host WHERE wake > :now
    UNION ALL  -- leases that may expire
    SELECT max(next_time, until + coalesce(host.delay_seconds, setting.delay_seconds))
    FROM lease CROSS JOIN host ON host.id = lease.host CROSS JOIN setting
    WHERE park_end < 9e999
);
