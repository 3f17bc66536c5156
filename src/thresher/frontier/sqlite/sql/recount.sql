-- recount_all (now): correct all counts from the URLs. A lease without its URL ends, and a URL without its lease waits again.

-- What there is of each host. Robots.txt files, sitemaps, feeds and probes (kinds 1 to 4) give no pages; other done URLs
-- may have been pages.
CREATE TEMP VIEW there AS
SELECT
    host.id AS host,
    count(*) FILTER (WHERE state = 0) AS waiting,
    count(*) FILTER (WHERE state = 1) AS leased,
    count(*) FILTER (WHERE state = 2) AS done,
    count(*) FILTER (WHERE state = 3) AS failed,
    count(*) FILTER (WHERE state = 2 AND kind NOT BETWEEN 1 AND 4) AS pages
FROM host LEFT JOIN url ON url.host = host.id
GROUP BY host.id;

CREATE TEMP VIEW recount_all AS SELECT NULL AS now;
CREATE TEMP TRIGGER recount_all_at_once INSTEAD OF INSERT ON recount_all BEGIN
    DELETE FROM answer;
    DELETE FROM note WHERE host = '' AND kind = 'unrecorded evictions';
    DELETE FROM url WHERE host NOT IN (SELECT id FROM host);
    DELETE FROM lease
    WHERE NOT EXISTS (
        SELECT 1 FROM url WHERE url.host = lease.host AND url.fingerprint = lease.fingerprint AND state = 1
    );
    UPDATE url SET state = 0 WHERE state = 1 AND (host, fingerprint) NOT IN (SELECT host, fingerprint FROM lease);
    UPDATE host
    SET waiting = there.waiting,
        leased = there.leased,
        failed = there.failed,
        pages = min(host.pages, there.pages),
        relevant = min(host.relevant, there.pages)
    FROM there
    WHERE there.host = host.id
        AND (host.waiting, host.leased, host.failed, host.pages <= there.pages)
            IS NOT (there.waiting, there.leased, there.failed, true);
    UPDATE tally
    SET (waiting, leased, done, failed) = (SELECT total(waiting), total(leased), total(done), total(failed) FROM there),
        (pages, relevant, hosts) = (SELECT total(pages), total(relevant), count(*) FROM host);
    INSERT OR IGNORE INTO touched SELECT id FROM host;
    INSERT INTO tidy VALUES (new.now);
    UPDATE tally
    SET (ready, delayed, parked) = (
        SELECT total(stage = 1), total(stage = 3), total(stage = 4) FROM host
    );
END;
