-- The search index of a crawl. All of it can be made anew from the page store.
CREATE TABLE IF NOT EXISTS segment (
    id       INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL UNIQUE,
    last_row INTEGER NOT NULL,             -- everything up to this row of the segment is in here
    stamp    TEXT    NOT NULL              -- how the segment's files looked when judgements were last compared
);
CREATE TABLE IF NOT EXISTS doc (
    id          INTEGER PRIMARY KEY,       -- its row in `words`
    fingerprint INTEGER NOT NULL,
    segment     INTEGER NOT NULL,
    place       INTEGER NOT NULL,          -- its row in the segment
    live        INTEGER NOT NULL,          -- 0 when the page was fetched again
    host        TEXT    NOT NULL,
    language    TEXT    NOT NULL,
    relevance   REAL    NOT NULL,
    relevant    INTEGER NOT NULL,
    fetched_at  REAL    NOT NULL,
    topics      TEXT                       -- as in the page store, in crawls of several topics
);
CREATE INDEX IF NOT EXISTS doc_fingerprint ON doc (fingerprint);
-- Our own terms, parted by blanks: the tokenizer has nothing left to decide. It keeps no text; rows are only added.
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (title, text, content = '', tokenize = 'ascii');
CREATE TABLE IF NOT EXISTS anchor (
    id     INTEGER PRIMARY KEY,            -- its row in `anchor_words`
    target INTEGER NOT NULL,               -- fingerprint of the page that it leads to
    said   INTEGER NOT NULL,               -- hash of the anchor
    UNIQUE (target, said)
);
CREATE VIRTUAL TABLE IF NOT EXISTS anchor_words USING fts5 (anchor, content = '', tokenize = 'ascii');
