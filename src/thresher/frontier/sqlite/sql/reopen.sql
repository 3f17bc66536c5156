-- reopen_all (now, urls): queue settled URLs again, with no try counted; returns how many were settled.
--     urls: JSON list of [host key, fingerprint]
--
-- Only the reason of a done URL shows whether it was a page: pages have none, or one of those listed below.

CREATE TEMP VIEW reopen_one AS SELECT NULL AS host, NULL AS fingerprint, NULL AS state, NULL AS page;
CREATE TEMP TRIGGER reopen_one_settled INSTEAD OF INSERT ON reopen_one BEGIN
    UPDATE answer SET value = value + 1;
    UPDATE url
    SET state = 0, tries = 0, reason_kind = NULL, reason = NULL
    WHERE host = new.host AND fingerprint = new.fingerprint;
    UPDATE tally SET done = done - (new.state = 2), failed = failed - (new.state = 3);
    UPDATE host
    SET failed = failed - (new.state = 3),
        pages = max(0, pages - new.page),
        relevant = min(relevant, max(0, pages - new.page))
    WHERE id = new.host;
    INSERT OR IGNORE INTO touched VALUES (new.host);
END;

CREATE TEMP VIEW reopen_all AS SELECT NULL AS now, NULL AS urls;
CREATE TEMP TRIGGER reopen_all_at_once INSTEAD OF INSERT ON reopen_all BEGIN
    DELETE FROM answer;
    INSERT INTO answer VALUES (0);
    INSERT INTO reopen_one
    SELECT
        url.host, url.fingerprint, url.state,
        url.state = 2 AND coalesce(url.reason_kind, '') IN ('', 'truncated', 'rendered')
    FROM json_each(new.urls) AS each
    CROSS JOIN host ON host.key = each.value ->> 0
    CROSS JOIN url ON url.host = host.id AND url.fingerprint = each.value ->> 1
    WHERE url.state IN (2, 3);
    INSERT INTO tidy VALUES (new.now);
END;
