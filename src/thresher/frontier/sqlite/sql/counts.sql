-- Statistics of the frontier as a JSON object; parameter :now. Hosts that woke since they were last written are counted
-- in their new stage.
SELECT json_object(
    'waiting', waiting, 'leased', leased, 'done', done, 'failed', failed, 'dropped', dropped,
    'pages', pages, 'relevant', relevant, 'hosts', hosts, 'ready', ready + due.now_ready,
    'delayed', delayed + due.now_delayed - due.was_delayed, 'parked', parked - due.was_parked
)
FROM tally CROSS JOIN (
    SELECT
        count(*) FILTER (WHERE leased < leases_per_host AND next_time <= :now) AS now_ready,
        count(*) FILTER (WHERE leased < leases_per_host AND next_time > :now) AS now_delayed,
        count(*) FILTER (WHERE stage = 3) AS was_delayed,
        count(*) FILTER (WHERE stage = 4) AS was_parked
    FROM host CROSS JOIN setting
    WHERE wake <= :now
) AS due;
