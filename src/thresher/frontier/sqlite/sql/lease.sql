-- lease_best (now, until, worker, most, pages): lease up to `most` of the best URLs, and no more than can bring the
--     crawl to `pages` pages (NULL: without limit); returns one JSON list per lease:
--     [url, host, score, fence, carry, depth_left, hops, redirects, parent, kind, tries, host pages, host
--     relevant]

-- The end of a lease that expired.
CREATE TEMP VIEW reap AS SELECT NULL AS fence;
CREATE TEMP TRIGGER reap_lost INSTEAD OF INSERT ON reap BEGIN
    UPDATE host
    SET next_time = max(next_time, lease.until + coalesce(host.delay_seconds, setting.delay_seconds))
    FROM lease CROSS JOIN setting
    WHERE lease.fence = new.fence AND host.id = lease.host;
    INSERT INTO count_try
    SELECT host, fingerprint, NULL, NULL, iif(EXISTS (SELECT 1 FROM begun WHERE fence = new.fence), 1, 8)
    FROM lease WHERE fence = new.fence;
    INSERT OR IGNORE INTO touched SELECT host FROM lease WHERE fence = new.fence;
    DELETE FROM lease WHERE fence = new.fence;
END;

CREATE TEMP VIEW grant_lease AS
SELECT NULL AS host, NULL AS fingerprint, NULL AS now, NULL AS until, NULL AS worker;
CREATE TEMP TRIGGER grant_lease_once INSTEAD OF INSERT ON grant_lease BEGIN
    UPDATE tally SET fence = fence + 1;
    INSERT INTO lease SELECT fence, new.host, new.fingerprint, new.until, new.worker FROM tally;
    INSERT INTO answer
    SELECT json_array(
        url, key, printf('%!.17g', score), fence, json(carry), depth_left, hops, redirects, parent, kind, tries % 8,
        host.pages, host.relevant
    )
    FROM tally CROSS JOIN host CROSS JOIN url ON url.host = host.id
    WHERE host.id = new.host AND fingerprint = new.fingerprint;
    UPDATE url SET state = 1 WHERE host = new.host AND fingerprint = new.fingerprint;
    INSERT OR IGNORE INTO touched VALUES (new.host);
    INSERT INTO tidy VALUES (new.now);
END;

CREATE TEMP VIEW hand_out AS SELECT NULL AS now, NULL AS until, NULL AS worker;
CREATE TEMP TRIGGER hand_out_best INSTEAD OF INSERT ON hand_out BEGIN
    INSERT INTO grant_lease
    SELECT host, fingerprint, new.now, new.until, new.worker
    FROM url
    WHERE state = 0 AND host = (SELECT id FROM host WHERE stage = 1 ORDER BY best DESC, best_age LIMIT 1)
    ORDER BY score DESC, age
    LIMIT 1;
    -- A host whose URLs were deleted from outside must not be offered for ever.
    INSERT OR IGNORE INTO touched
    SELECT id FROM (SELECT id FROM host WHERE stage = 1 ORDER BY best DESC, best_age LIMIT 1)
    WHERE NOT EXISTS (SELECT 1 FROM url WHERE host = id AND state = 0);
    INSERT INTO tidy SELECT new.now WHERE EXISTS (SELECT 1 FROM touched);
END;

CREATE TEMP VIEW counting AS
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) SELECT n FROM number;

CREATE TEMP VIEW lease_best AS
SELECT NULL AS now, NULL AS until, NULL AS worker, NULL AS most, NULL AS pages;
CREATE TEMP TRIGGER lease_best_in_turn INSTEAD OF INSERT ON lease_best BEGIN
    DELETE FROM answer;
    INSERT INTO reap SELECT fence FROM lease WHERE until <= new.now ORDER BY until, fence;
    INSERT OR IGNORE INTO touched SELECT id FROM host WHERE wake <= new.now;
    INSERT INTO tidy VALUES (new.now);
    INSERT INTO hand_out
    SELECT new.now, new.until, new.worker
    FROM counting
    LIMIT (
        SELECT max(0, min(new.most, coalesce(new.pages - pages - leased, new.most), ready * leases_per_host))
        FROM tally CROSS JOIN setting
    );
END;
