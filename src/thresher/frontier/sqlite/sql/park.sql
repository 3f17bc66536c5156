-- park_host (now, host, kind, detail, until): stop requests to a host until `until`; an unknown host is created.
-- unpark_host (now, host): allow requests to it again.

CREATE TEMP VIEW park_host AS SELECT NULL AS now, NULL AS host, NULL AS kind, NULL AS detail, NULL AS until;
CREATE TEMP TRIGGER park_host_until INSTEAD OF INSERT ON park_host BEGIN
    DELETE FROM answer;
    INSERT OR IGNORE INTO host (key) VALUES (new.host);
    UPDATE host SET parked_kind = new.kind, parked = new.detail, park_end = new.until WHERE key = new.host;
    INSERT OR IGNORE INTO touched SELECT id FROM host WHERE key = new.host;
    INSERT INTO tidy VALUES (new.now);
END;

CREATE TEMP VIEW unpark_host AS SELECT NULL AS now, NULL AS host;
CREATE TEMP TRIGGER unpark_host_now INSTEAD OF INSERT ON unpark_host BEGIN
    DELETE FROM answer;
    UPDATE host SET parked_kind = '', parked = '', park_end = 0 WHERE key = new.host;
    INSERT OR IGNORE INTO touched SELECT id FROM host WHERE key = new.host;
    INSERT INTO tidy VALUES (new.now);
END;
