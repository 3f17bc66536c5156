-- Ready hosts, in the order of their best URLs; parameters :now, :limit.
SELECT key FROM (
    SELECT key, best, best_age FROM host WHERE stage = 1
    UNION ALL  -- hosts that woke since they were last written
    SELECT key, best, best_age
    FROM host CROSS JOIN setting
    WHERE wake <= :now AND leased < leases_per_host AND next_time <= :now AND park_end <= :now
)
ORDER BY best DESC, best_age
LIMIT :limit;
