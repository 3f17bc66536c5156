-- rescore_all (now, scores): set new scores of waiting URLs; returns how many still waited.
--     scores: JSON list of [host key, fingerprint, score, was]; with `was`, only a URL that still has that score
--     changes

CREATE TEMP VIEW rescore_one AS SELECT NULL AS host, NULL AS fingerprint, NULL AS score, NULL AS was;
CREATE TEMP TRIGGER rescore_one_waiting INSTEAD OF INSERT ON rescore_one BEGIN
    UPDATE answer
    SET value = value + 1
    WHERE EXISTS (SELECT 1 FROM url WHERE host = new.host AND fingerprint = new.fingerprint AND state = 0);
    UPDATE url
    SET score = new.score
    WHERE host = new.host AND fingerprint = new.fingerprint AND state = 0 AND score <> new.score
        AND (new.was IS NULL OR abs(score - new.was) < 1e-6);
    INSERT OR IGNORE INTO touched VALUES (new.host);
END;

CREATE TEMP VIEW rescore_all AS SELECT NULL AS now, NULL AS scores;
CREATE TEMP TRIGGER rescore_all_at_once INSTEAD OF INSERT ON rescore_all BEGIN
    DELETE FROM answer;
    INSERT INTO answer VALUES (0);
    INSERT INTO rescore_one
    SELECT host.id, each.value ->> 1, each.value ->> 2, each.value ->> 3
    FROM json_each(new.scores) AS each CROSS JOIN host ON host.key = each.value ->> 0;
    INSERT INTO tidy VALUES (new.now);
END;
