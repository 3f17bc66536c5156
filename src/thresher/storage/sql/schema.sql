-- One segment of the page store. Rows are only ever appended, but for what the judge thinks; for a URL with several
-- rows the last one that brought a page counts.
CREATE TABLE IF NOT EXISTS page (
    id              INTEGER PRIMARY KEY,   -- order of arrival in this segment
    fingerprint     INTEGER NOT NULL,
    url             TEXT    NOT NULL,
    status          INTEGER NOT NULL,      -- HTTP status, 0 when nothing came
    outcome         TEXT    NOT NULL,      -- done, failed, retry
    reason          TEXT    NOT NULL,      -- the details of the reason
    page            INTEGER NOT NULL,      -- 1 when it brought a page
    score           REAL    NOT NULL,      -- by which it was leased
    parent          INTEGER NOT NULL,      -- fingerprint of the page it was found on, 0 for a seed
    depth           INTEGER NOT NULL,      -- links from a seed
    title           TEXT    NOT NULL,
    language        TEXT    NOT NULL,
    relevance       REAL    NOT NULL,      -- how likely it is about the topic
    relevant        INTEGER NOT NULL,      -- whether that reaches the judge's threshold
    reward          REAL    NOT NULL DEFAULT 0,    -- what strategies learn from
    parts           TEXT,                  -- JSON: what the relevance was made of
    text_hash       INTEGER NOT NULL,
    duplicate_of    INTEGER NOT NULL,      -- fingerprint of the page with the same text, 0 when it is the first
    fetched_at      REAL    NOT NULL,      -- seconds since the epoch
    elapsed_seconds REAL    NOT NULL,
    bytes           INTEGER NOT NULL,
    etag            TEXT    NOT NULL DEFAULT '',   -- as the server sent them, for the next visit
    last_modified   TEXT    NOT NULL DEFAULT '',
    text            BLOB,                  -- zstd
    main            BLOB,                  -- zstd; the main text, of heavy pages and of rows before format 5
    markup          BLOB,                  -- zstd; the main text of other pages is extracted from it when it is read
    links           BLOB,                  -- zstd of JSON: [[url, anchor, score, parts], …]
    terms           BLOB,                  -- what the judge needs to judge the page again without its text
    topics          TEXT,                  -- JSON: {topic: [relevance, relevant, reward]}, in crawls of several topics
    blocked         TEXT    NOT NULL DEFAULT '',   -- the kind of block page that came in place of the page
    opt_outs        TEXT    NOT NULL DEFAULT '',   -- AI opt-outs, separated by blanks
    reason_kind     TEXT    NOT NULL DEFAULT '',   -- why there is no page, as in reasons/reason.py
    signals         TEXT    NOT NULL DEFAULT ''    -- JSON: usage signals, [[source, statement, value], …]
);
CREATE INDEX IF NOT EXISTS page_fingerprint ON page (fingerprint);
-- Pages that a person can be asked about, by their relevance.
DROP INDEX IF EXISTS page_askable;
CREATE INDEX IF NOT EXISTS page_with_text ON page (relevance)
    WHERE page = 1 AND duplicate_of = 0 AND text IS NOT NULL;
-- For counting: no row, with its long texts, must be read to count pages and relevant pages.
CREATE INDEX IF NOT EXISTS page_counted ON page (duplicate_of, relevant, relevance) WHERE page = 1;
-- For counting by topic, likewise; empty in crawls of one topic.
CREATE INDEX IF NOT EXISTS page_topics ON page (topics) WHERE page = 1 AND duplicate_of = 0 AND topics IS NOT NULL;
PRAGMA user_version = 9;
