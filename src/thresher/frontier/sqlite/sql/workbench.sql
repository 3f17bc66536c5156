-- Temporary tables of one connection: its settings, the arguments of a call, and its results.

-- One row. `now` is the time of the running call.
CREATE TEMP TABLE setting (
    now REAL,
    leases_per_host INTEGER,
    waiting_per_host INTEGER,
    merge TEXT,
    delay_seconds REAL,
    max_tries INTEGER,
    max_unbegun INTEGER
);

-- Candidates to add; `host` is an index into the list of host keys of the call. Programs read only the rows that their
-- parameters select; rows of earlier calls are overwritten.
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
    carry TEXT,
    kind INTEGER
);
CREATE TEMP TABLE named (n INTEGER PRIMARY KEY, id INTEGER);  -- ids of that list

CREATE TEMP TABLE touched (host INTEGER PRIMARY KEY);  -- hosts for tidy.sql to update
CREATE TEMP TABLE answer (value);
