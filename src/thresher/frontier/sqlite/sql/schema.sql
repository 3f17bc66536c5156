-- The tables of a frontier file. Run when it is new or of an earlier version, perhaps by two processes: existing tables are
-- kept.
--
-- Times are seconds since the epoch, by the clock of database.py; 9e999 is "without end".

CREATE TABLE IF NOT EXISTS host (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,                -- name or name:port
    stage INTEGER NOT NULL DEFAULT 0,        -- 0 empty, 1 ready, 2 held, 3 delayed, 4 parked; see tidy.sql
    wake REAL,                               -- when time alone changes the stage
    best REAL,                               -- score and age of the best waiting URL
    best_age INTEGER,
    waiting INTEGER NOT NULL DEFAULT 0,
    leased INTEGER NOT NULL DEFAULT 0,
    next_time REAL NOT NULL DEFAULT 0,       -- no request before
    delay_seconds REAL,                      -- of the last settlement
    park_end REAL NOT NULL DEFAULT 0,
    parked TEXT NOT NULL DEFAULT '',         -- why: the details of the reason
    pages INTEGER NOT NULL DEFAULT 0,
    relevant INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    parked_kind TEXT NOT NULL DEFAULT ''     -- why: the kind of the reason, empty without one
);
CREATE INDEX IF NOT EXISTS host_turn ON host (stage, best DESC, best_age);
CREATE INDEX IF NOT EXISTS host_wake ON host (wake) WHERE wake IS NOT NULL;

-- The host comes first in the key, so that its URLs are stored together: the links of a page change few blocks.
CREATE TABLE IF NOT EXISTS url (
    host INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,        -- 0 waiting, 1 leased, 2 done, 3 failed
    score REAL NOT NULL,
    age INTEGER NOT NULL,                    -- the order in which they were added
    depth_left INTEGER NOT NULL,
    hops INTEGER NOT NULL,
    redirects INTEGER NOT NULL,
    found INTEGER NOT NULL DEFAULT 1,        -- number of scores in the mean
    tries INTEGER NOT NULL DEFAULT 0,        -- plus 8 for each lease that expired before a request was reported
    parent INTEGER NOT NULL,
    url TEXT NOT NULL,
    carry TEXT,                              -- JSON, of a sitemap the host that it is for; NULL when empty
    reason TEXT,                             -- the details of the reason
    reason_kind TEXT,                        -- its kind; NULL without one
    kind INTEGER NOT NULL DEFAULT 0,         -- a RequestKind
    PRIMARY KEY (host, fingerprint)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS url_waiting ON url (host, score DESC, age) WHERE state = 0;

-- URLs that were evicted from full hosts and were not added again since.
CREATE TABLE IF NOT EXISTS evicted (
    host INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    PRIMARY KEY (host, fingerprint)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS lease (
    fence INTEGER PRIMARY KEY,
    host INTEGER NOT NULL,
    fingerprint INTEGER NOT NULL,
    until REAL NOT NULL,
    worker TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS lease_until ON lease (until);

-- The leases whose requests were reported.
CREATE TABLE IF NOT EXISTS begun (fence INTEGER PRIMARY KEY);
CREATE TRIGGER IF NOT EXISTS lease_ended AFTER DELETE ON lease BEGIN
    DELETE FROM begun WHERE fence = old.fence;
END;

-- The URL that was settled first with a content.
CREATE TABLE IF NOT EXISTS content (hash INTEGER PRIMARY KEY, fingerprint INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS note (
    host TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    until REAL NOT NULL,
    PRIMARY KEY (host, kind)
);
CREATE INDEX IF NOT EXISTS note_until ON note (until);

-- Locks, and when each becomes free.
CREATE TABLE IF NOT EXISTS gate (name TEXT PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID;

-- One row: the boot id, and the wall clock at boot; see database.py.
CREATE TABLE IF NOT EXISTS clock (start TEXT NOT NULL, began REAL NOT NULL);

-- One row: the sums that counts.sql reads, and the last age and fence assigned.
CREATE TABLE IF NOT EXISTS tally (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    age INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    waiting INTEGER NOT NULL DEFAULT 0,
    leased INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0,
    pages INTEGER NOT NULL DEFAULT 0,
    relevant INTEGER NOT NULL DEFAULT 0,
    hosts INTEGER NOT NULL DEFAULT 0,
    ready INTEGER NOT NULL DEFAULT 0,
    delayed INTEGER NOT NULL DEFAULT 0,
    parked INTEGER NOT NULL DEFAULT 0
);
INSERT OR IGNORE INTO tally (id) VALUES (1);

-- Triggers keep the sums up to date: no program counts URLs or hosts. None counts deletions: only an eviction may remove a
-- URL, and a URL that went in another way is still counted, so that it is missed.

DROP TRIGGER IF EXISTS url_added;
CREATE TRIGGER url_added AFTER INSERT ON url BEGIN
    DELETE FROM evicted WHERE host = new.host AND fingerprint = new.fingerprint;
    UPDATE host SET waiting = waiting + 1 WHERE id = new.host;
    UPDATE tally SET waiting = waiting + 1;
END;

CREATE TRIGGER IF NOT EXISTS url_moved AFTER UPDATE OF state ON url BEGIN
    UPDATE host
    SET waiting = waiting + (new.state = 0) - (old.state = 0),
        leased = leased + (new.state = 1) - (old.state = 1),
        failed = failed + (new.state = 3)
    WHERE id = new.host;
    UPDATE tally
    SET waiting = waiting + (new.state = 0) - (old.state = 0),
        leased = leased + (new.state = 1) - (old.state = 1),
        done = done + (new.state = 2),
        failed = failed + (new.state = 3);
END;

DROP TRIGGER IF EXISTS url_dropped;
CREATE TRIGGER IF NOT EXISTS url_evicted AFTER INSERT ON evicted BEGIN
    DELETE FROM url WHERE host = new.host AND fingerprint = new.fingerprint;
    UPDATE host SET waiting = waiting - 1 WHERE id = new.host;
    UPDATE tally SET waiting = waiting - 1, dropped = dropped + 1;
END;

CREATE TRIGGER IF NOT EXISTS host_added AFTER INSERT ON host BEGIN
    UPDATE tally SET hosts = hosts + 1;
END;

CREATE TRIGGER IF NOT EXISTS host_moved AFTER UPDATE OF stage ON host WHEN old.stage <> new.stage BEGIN
    UPDATE tally
    SET ready = ready + (new.stage = 1) - (old.stage = 1),
        delayed = delayed + (new.stage = 3) - (old.stage = 3),
        parked = parked + (new.stage = 4) - (old.stage = 4);
END;

CREATE TRIGGER IF NOT EXISTS page_counted AFTER UPDATE OF pages ON host BEGIN
    UPDATE tally SET pages = pages + new.pages - old.pages, relevant = relevant + new.relevant - old.relevant;
END;

-- Versions before 3 counted evictions and did not record them.
INSERT OR IGNORE INTO note (host, kind, value, until)
SELECT '', 'unrecorded evictions', dropped, 9e999
FROM tally CROSS JOIN pragma_user_version
WHERE dropped > 0 AND user_version < 3;
