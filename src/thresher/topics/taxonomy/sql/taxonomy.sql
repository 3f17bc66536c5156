-- A taxonomy as one file. Rows come in any order; `taxonomy_finish.sql` makes what is derived from them.

CREATE TABLE node (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,          -- Sports/Basketball: a subtree is one range of this index
    parent INTEGER NOT NULL,            -- 0 below the root, which has no row
    depth INTEGER NOT NULL,
    language TEXT NOT NULL,             -- of its own name
    urls INTEGER NOT NULL DEFAULT 0,    -- example pages of its own
    urls_below INTEGER NOT NULL DEFAULT 0  -- and of its whole subtree
);

CREATE TABLE label (
    node INTEGER NOT NULL,
    language TEXT NOT NULL,
    label TEXT NOT NULL,
    description TEXT NOT NULL,
    own INTEGER NOT NULL,               -- 0 when it was taken over from the node's counterpart in another language
    PRIMARY KEY (node, language)
) WITHOUT ROWID;

CREATE TABLE keyword (
    node INTEGER NOT NULL,
    language TEXT NOT NULL,
    place INTEGER NOT NULL,             -- their order
    keyword TEXT NOT NULL,
    PRIMARY KEY (node, language, place)
) WITHOUT ROWID;

CREATE TABLE example (
    id INTEGER PRIMARY KEY,
    node INTEGER NOT NULL,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL
);

CREATE TABLE link (
    node INTEGER NOT NULL,
    kind TEXT NOT NULL,                 -- alternate (another language), symbolic, related
    target TEXT NOT NULL,               -- a path, which need not exist
    PRIMARY KEY (node, kind, target)
) WITHOUT ROWID;

CREATE TABLE word (                     -- which labels hold a term, for `find`
    term TEXT NOT NULL,
    node INTEGER NOT NULL,
    weight REAL NOT NULL,               -- the term's share of the label
    PRIMARY KEY (term, node)
) WITHOUT ROWID;
