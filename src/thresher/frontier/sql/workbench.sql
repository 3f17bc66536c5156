-- Tables of one connection, in memory: its settings, what a call brings along, and what it answers.

-- One row. `now` is the time of the running call.
CREATE TEMP TABLE setting (
    now REAL,
    leases_per_host INTEGER,
    waiting_per_host INTEGER,
    merge TEXT,
    delay_seconds REAL,
    max_tries INTEGER
);

-- Candidates on their way in; `host` is a place in the list of host keys that comes with them. Programs read the rows
-- that they are told to; what an earlier call left is written over.
CREATE TEMP TABLE link (
    n INTEGER PRIMARY KEY,
    host INTEGER,
    fingerprint INTEGER,
    url TEXT,
    score REAL,
    depth_left INTEGER,
    hops INTEGER,
    redirects INTEGER,
    parent INTEGER,
    carry TEXT
);
CREATE TEMP TABLE named (n INTEGER PRIMARY KEY, id INTEGER);  -- that list, looked up

CREATE TEMP TABLE touched (host INTEGER PRIMARY KEY);  -- hosts for tidy.sql to look at
CREATE TEMP TABLE answer (value);
