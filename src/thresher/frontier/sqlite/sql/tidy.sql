-- tidy (now): the end of every change. Evicts URLs of full hosts, then writes the stages of the touched hosts.
-- A host whose stage and best URL are unchanged is not written, so that its block of the file stays clean.

CREATE TEMP VIEW trim AS SELECT NULL AS host, NULL AS surplus;
CREATE TEMP TRIGGER trim_worst INSTEAD OF INSERT ON trim BEGIN
    INSERT OR REPLACE INTO evicted  -- its trigger removes the URL
    SELECT host, fingerprint FROM url WHERE host = new.host AND state = 0 ORDER BY score, age DESC LIMIT new.surplus;
END;

CREATE TEMP VIEW standing AS
SELECT
    host,
    stage,
    CASE stage WHEN 4 THEN nullif(park_end, 9e999) WHEN 3 THEN next_time END AS wake,
    (SELECT score FROM url WHERE url.host = placed.host AND state = 0 ORDER BY score DESC, age LIMIT 1) AS best,
    (SELECT age FROM url WHERE url.host = placed.host AND state = 0 ORDER BY score DESC, age LIMIT 1) AS best_age
FROM (
    SELECT
        host.id AS host,
        next_time,
        park_end,
        CASE
            WHEN NOT EXISTS (SELECT 1 FROM url WHERE url.host = host.id AND state = 0) THEN 0
            WHEN park_end > setting.now THEN 4
            WHEN leased >= setting.leases_per_host THEN 2
            WHEN next_time > setting.now THEN 3
            ELSE 1
        END AS stage
    FROM host CROSS JOIN setting
) AS placed;

CREATE TEMP VIEW tidy AS SELECT NULL AS now;
CREATE TEMP TRIGGER tidy_up INSTEAD OF INSERT ON tidy BEGIN
    UPDATE setting SET now = new.now;

    INSERT INTO trim
    SELECT host.id, waiting - waiting_per_host
    FROM touched CROSS JOIN host ON host.id = touched.host CROSS JOIN setting
    WHERE waiting > waiting_per_host;

    UPDATE host
    SET (stage, wake, best, best_age) =
        (SELECT stage, wake, best, best_age FROM standing WHERE standing.host = host.id)
    WHERE id IN (SELECT host FROM touched) AND (stage, wake, best, best_age) IS NOT
        (SELECT stage, wake, best, best_age FROM standing WHERE standing.host = host.id);

    DELETE FROM touched;
END;
