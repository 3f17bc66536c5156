-- One segment of the page store. Rows are only ever appended; for a URL with several rows the last one counts.
CREATE TABLE IF NOT EXISTS page (
    id              INTEGER PRIMARY KEY,   -- order of arrival in this segment
    fingerprint     INTEGER NOT NULL,
    url             TEXT    NOT NULL,
    status          INTEGER NOT NULL,      -- HTTP status, 0 when nothing came
    outcome         TEXT    NOT NULL,      -- done, failed, retry
    reason          TEXT    NOT NULL,
    page            INTEGER NOT NULL,      -- 1 when it brought a page
    score           REAL    NOT NULL,      -- by which it was leased
    parent          INTEGER NOT NULL,      -- fingerprint of the page it was found on, 0 for a seed
    depth           INTEGER NOT NULL,      -- links from a seed
    title           TEXT    NOT NULL,
    language        TEXT    NOT NULL,
    relevance       REAL    NOT NULL,
    relevant        INTEGER NOT NULL,
    parts           TEXT,                  -- JSON: what the relevance was made of
    text_hash       INTEGER NOT NULL,
    duplicate_of    INTEGER NOT NULL,      -- fingerprint of the page with the same text, 0 when it is the first
    fetched_at      REAL    NOT NULL,      -- seconds since the epoch
    elapsed_seconds REAL    NOT NULL,
    bytes           INTEGER NOT NULL,
    text            BLOB,                  -- zstd
    links           BLOB                   -- zstd of JSON: [[url, anchor, score, parts], …]
);
CREATE INDEX IF NOT EXISTS page_fingerprint ON page (fingerprint);
PRAGMA user_version = 1;
