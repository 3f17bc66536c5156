-- When `lease` may have something to hand out; parameter :now.
SELECT min(time) FROM (
    SELECT :now AS time WHERE EXISTS (SELECT 1 FROM host WHERE stage = 1)
    UNION ALL  -- hosts that woke since they were last written down
    SELECT min(next_time) FROM host CROSS JOIN setting WHERE wake <= :now AND leased < leases_per_host
    UNION ALL  -- hosts asleep
    SELECT min(wake) FROM host WHERE wake > :now
    UNION ALL  -- leases that may be lost
    SELECT max(next_time, until + coalesce(host.delay_seconds, setting.delay_seconds))
    FROM lease CROSS JOIN host ON host.id = lease.host CROSS JOIN setting
    WHERE park_end < 9e999
);
