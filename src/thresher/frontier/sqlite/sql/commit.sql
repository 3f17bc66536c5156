-- commit_all (now, settlements, links): settle leases and add their links; returns the numbers of those settled.
--     settlements: JSON list of [fence, outcome, kind and detail of the reason, delay_seconds, page, relevant, kind and detail of
--                  why the host is parked, content, hosts, first, last], the last three as in add.sql
--     links: number of candidates in `link`

-- Count a try of a URL (`step` is 1) or a lease that expired before its request was reported (8); after too many the
-- URL has failed. Without a reason its lease expired.
CREATE TEMP VIEW count_try AS SELECT NULL AS host, NULL AS fingerprint, NULL AS kind, NULL AS detail, NULL AS step;
CREATE TEMP TRIGGER count_try_of_url INSTEAD OF INSERT ON count_try BEGIN
    UPDATE url SET tries = tries + new.step, state = 0 WHERE host = new.host AND fingerprint = new.fingerprint;
    UPDATE url
    SET state = 3,
        reason_kind = coalesce(new.kind, iif(new.step = 1, 'worker-lost', 'lease-expired')),
        reason = coalesce(new.detail, iif(new.step = 1, tries % 8, tries / 8))
    WHERE host = new.host AND fingerprint = new.fingerprint AND EXISTS (
        SELECT 1 FROM setting WHERE tries % 8 >= max_tries OR tries >= 8 * max_unbegun
    );
END;

CREATE TEMP VIEW settle AS
SELECT
    NULL AS n, NULL AS now, NULL AS host, NULL AS fingerprint, NULL AS fence, NULL AS outcome, NULL AS kind,
    NULL AS detail, NULL AS delay_seconds, NULL AS page, NULL AS relevant, NULL AS park_kind, NULL AS park,
    NULL AS content,
    NULL AS hosts, NULL AS first, NULL AS last;
CREATE TEMP TRIGGER settle_held INSTEAD OF INSERT ON settle BEGIN
    INSERT INTO answer VALUES (new.n);
    DELETE FROM lease WHERE fence = new.fence;
    UPDATE url
    SET reason_kind = nullif(new.kind, ''), reason = nullif(new.detail, '')
    WHERE host = new.host AND fingerprint = new.fingerprint;
    INSERT INTO count_try SELECT new.host, new.fingerprint, new.kind, new.detail, 1 WHERE new.outcome = 'retry';
    UPDATE url
    SET state = iif(new.outcome = 'done', 2, 3)
    WHERE host = new.host AND fingerprint = new.fingerprint AND new.outcome <> 'retry';
    UPDATE host
    SET pages = pages + new.page,
        relevant = relevant + (new.page AND new.relevant),
        delay_seconds = new.delay_seconds,
        next_time = max(next_time, new.now + new.delay_seconds),
        parked_kind = iif(new.park_kind = '', parked_kind, new.park_kind),
        parked = iif(new.park_kind = '', parked, new.park),
        park_end = iif(new.park_kind = '', park_end, 9e999)
    WHERE id = new.host;
    INSERT OR IGNORE INTO content SELECT new.content, new.fingerprint WHERE new.content <> 0;
    INSERT OR IGNORE INTO touched VALUES (new.host);
    INSERT INTO add_links VALUES (new.hosts, new.first, new.last);
END;

CREATE TEMP VIEW commit_all AS SELECT NULL AS now, NULL AS settlements, NULL AS links;
CREATE TEMP TRIGGER commit_all_at_once INSTEAD OF INSERT ON commit_all BEGIN
    DELETE FROM answer;
    INSERT INTO commit_one SELECT new.now, each.key, each.value FROM json_each(new.settlements) AS each;
    UPDATE tally SET age = age + new.links WHERE EXISTS (SELECT 1 FROM answer);
    INSERT INTO tidy VALUES (new.now);
END;

CREATE TEMP VIEW commit_one AS SELECT NULL AS now, NULL AS n, NULL AS settlement;
CREATE TEMP TRIGGER commit_one_if_held INSTEAD OF INSERT ON commit_one BEGIN
    INSERT INTO settle
    SELECT
        new.n, new.now, host, fingerprint, fence,
        new.settlement ->> 1, new.settlement ->> 2, new.settlement ->> 3, new.settlement ->> 4, new.settlement ->> 5,
        new.settlement ->> 6, new.settlement ->> 7, new.settlement ->> 8, new.settlement ->> 9,
        new.settlement ->> 10, new.settlement ->> 11, new.settlement ->> 12
    FROM lease
    WHERE fence = new.settlement ->> 0 AND until > new.now;
END;
