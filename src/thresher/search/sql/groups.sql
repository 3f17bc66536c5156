-- Pages that say nearly the same. A group is known by the number of one of its pages, its head.
CREATE TABLE IF NOT EXISTS alike (
    page      INTEGER PRIMARY KEY,
    head      INTEGER NOT NULL,
    signature BLOB    NOT NULL            -- 96 numbers of 32 bits
);
CREATE INDEX IF NOT EXISTS alike_head ON alike (head);
CREATE TABLE IF NOT EXISTS alike_band (
    key  INTEGER NOT NULL,
    page INTEGER NOT NULL,
    PRIMARY KEY (key, page)
) WITHOUT ROWID
