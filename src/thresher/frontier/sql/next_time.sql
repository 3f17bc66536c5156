-- When `lease` may have something to hand out: at once, when a host wakes, or when a lost lease comes back; parameter :now.
SELECT min(time) FROM (
    SELECT :now AS time WHERE EXISTS (SELECT 1 FROM host WHERE stage = 1)
    UNION ALL
    SELECT min(wake) FROM host WHERE wake IS NOT NULL
    UNION ALL
    SELECT max(next_time, until + coalesce(host.delay_seconds, setting.delay_seconds))
    FROM lease CROSS JOIN host ON host.id = lease.host CROSS JOIN setting
    WHERE park_end < 9e999
);
