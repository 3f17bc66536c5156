-- One web of the lab: pages are numbered from 0 without gaps. Written once, then only read.
CREATE TABLE page (
    id       INTEGER PRIMARY KEY,
    url      TEXT NOT NULL UNIQUE,     -- canonical
    title    TEXT NOT NULL,
    language TEXT NOT NULL,
    charset  TEXT NOT NULL             -- of the page's original bytes
);
CREATE TABLE markup (                  -- apart from page, so that walking over addresses stays cheap
    page  INTEGER PRIMARY KEY REFERENCES page (id),
    html  BLOB NOT NULL,               -- zstd of UTF-8, with the dictionary of this store
    links BLOB NOT NULL                -- the pages it leads to, each once: unsigned 32-bit numbers, little-endian
);
CREATE TABLE topic (
    label TEXT NOT NULL,
    page  INTEGER NOT NULL REFERENCES page (id),
    PRIMARY KEY (label, page)
) WITHOUT ROWID;
CREATE INDEX topic_page ON topic (page);
CREATE TABLE dictionary (              -- one row, or none when the web is too small to learn from
    bytes BLOB NOT NULL
);

-- Only while the store is built: how links may name a page other than by its address.
CREATE TEMPORARY TABLE other_name (
    rank INTEGER NOT NULL,             -- 0: the source says so; 1: same spelling; 2: same place
    name BLOB NOT NULL,
    page INTEGER NOT NULL,
    PRIMARY KEY (rank, name)
) WITHOUT ROWID;
CREATE TEMPORARY TABLE recorded (       -- aliases that the source knows, before all pages have their numbers
    rank INTEGER NOT NULL,
    name BLOB NOT NULL,
    url  TEXT NOT NULL
);
