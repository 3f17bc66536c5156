-- Counts that differ from the URLs that are there: host (empty for a sum), kind, count, number of URLs.
WITH found AS MATERIALIZED (SELECT * FROM there),
counts (key, kind, counted, there) AS (
    SELECT key, 'waiting', host.waiting, found.waiting FROM host CROSS JOIN found ON found.host = host.id
    UNION ALL
    SELECT key, 'leased', host.leased, found.leased FROM host CROSS JOIN found ON found.host = host.id
    UNION ALL
    SELECT key, 'pages', host.pages, min(host.pages, found.pages)  -- a done URL may be no page
    FROM host CROSS JOIN found ON found.host = host.id
    UNION ALL
    SELECT '', 'waiting', waiting, (SELECT total(waiting) FROM host) FROM tally
    UNION ALL
    SELECT '', 'leased', leased, (SELECT total(leased) FROM host) FROM tally
    UNION ALL
    SELECT '', 'leases', total(leased), (SELECT count(*) FROM lease) FROM found
    UNION ALL
    SELECT '', 'done', done, (SELECT total(done) FROM found) FROM tally
    UNION ALL
    SELECT '', 'failed', failed, (SELECT total(failed) FROM found) FROM tally
)
SELECT key, kind, counted, CAST(there AS INTEGER) FROM counts WHERE counted <> there;
