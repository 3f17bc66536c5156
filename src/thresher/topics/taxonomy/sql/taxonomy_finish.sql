-- Run once, after the last row: indexes, counts, and labels taken over from counterparts.

CREATE INDEX node_parent ON node (parent);
CREATE INDEX example_node ON example (node);

UPDATE node SET urls = (SELECT count(*) FROM example WHERE example.node = node.id);
UPDATE node SET urls_below = urls;

-- An alternate link may stand on either side, and counts for both.
CREATE TEMP TABLE pair AS
    SELECT link.node AS one, node.id AS other FROM link JOIN node ON node.path = link.target WHERE link.kind = 'alternate';
INSERT INTO pair SELECT other, one FROM pair;

-- Of several counterparts in one language the first by path counts: simplified Chinese before traditional.
INSERT OR IGNORE INTO label (node, language, label, description, own)
    SELECT pair.one, label.language, label.label, label.description, 0
    FROM pair JOIN node ON node.id = pair.other
    JOIN label ON label.node = node.id AND label.language = node.language
    ORDER BY node.path;

INSERT OR IGNORE INTO link (node, kind, target)
    SELECT pair.one, 'alternate', node.path FROM pair JOIN node ON node.id = pair.other;
DROP TABLE pair;
