-- The changes of a segment of the page store, recorded by the segment itself so that no writer can forget it.
-- The newest change of each row counts. Versions grow for ever, also when the table is created anew: it starts at the
-- time in microseconds.
CREATE TABLE change (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    id      INTEGER NOT NULL UNIQUE        -- of the row of `page`
);
CREATE TABLE stream (name TEXT NOT NULL);  -- one row: the name of the segment among those of all machines
CREATE TRIGGER change_insert AFTER INSERT ON page BEGIN
    INSERT OR REPLACE INTO change (id) VALUES (new.id);
END;
CREATE TRIGGER change_update AFTER UPDATE ON page BEGIN
    INSERT OR REPLACE INTO change (id) VALUES (new.id);
END;
