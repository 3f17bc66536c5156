-- release_all (now, fences, delay_seconds): return held leases unused.
--     fences: JSON list

CREATE TEMP VIEW release_one AS
SELECT NULL AS now, NULL AS fence, NULL AS host, NULL AS fingerprint, NULL AS delay_seconds;
CREATE TEMP TRIGGER release_one_unused INSTEAD OF INSERT ON release_one BEGIN
    DELETE FROM lease WHERE fence = new.fence;
    UPDATE url SET state = 0 WHERE host = new.host AND fingerprint = new.fingerprint;
    UPDATE host
    SET delay_seconds = new.delay_seconds, next_time = max(next_time, new.now + new.delay_seconds)
    WHERE id = new.host AND new.delay_seconds > 0;
    INSERT OR IGNORE INTO touched VALUES (new.host);
END;

CREATE TEMP VIEW release_all AS SELECT NULL AS now, NULL AS fences, NULL AS delay_seconds;
CREATE TEMP TRIGGER release_all_at_once INSTEAD OF INSERT ON release_all BEGIN
    DELETE FROM answer;
    INSERT INTO release_one
    SELECT DISTINCT new.now, lease.fence, lease.host, lease.fingerprint, new.delay_seconds
    FROM json_each(new.fences) AS each CROSS JOIN lease ON lease.fence = each.value
    WHERE lease.until > new.now;
    INSERT INTO tidy VALUES (new.now);
END;
