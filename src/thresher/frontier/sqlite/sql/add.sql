-- add_links (hosts, first, last): add the candidates first..last of `link`, in this order.
--     hosts: JSON list of the host keys that `link.host` points into
-- add_all (now, hosts, links): the same for a whole call with that many links; returns how many were new.

CREATE TEMP VIEW add_links AS SELECT NULL AS hosts, NULL AS first, NULL AS last;
CREATE TEMP TRIGGER add_links_in_order INSTEAD OF INSERT ON add_links BEGIN
    INSERT OR IGNORE INTO host (key) SELECT value FROM json_each(new.hosts);
    INSERT INTO named
    SELECT each.key, host.id FROM json_each(new.hosts) AS each CROSS JOIN host ON host.key = each.value;
    INSERT OR IGNORE INTO touched SELECT id FROM named;

    -- The WHERE at the end: rows that a known link does not change are not written.
    INSERT INTO url (host, fingerprint, score, age, depth_left, hops, redirects, parent, url, carry, kind)
    SELECT
        named.id, fingerprint, score, tally.age + link.n, depth_left, hops, redirects, parent, url, carry, kind
    FROM tally CROSS JOIN link CROSS JOIN named ON named.n = link.host
    WHERE link.n BETWEEN new.first AND new.last
    ON CONFLICT (host, fingerprint) DO UPDATE
    SET depth_left = max(depth_left, excluded.depth_left),
        hops = min(hops, excluded.hops),
        kind = max(kind, excluded.kind),
        score = CASE (SELECT merge FROM setting)
            WHEN 'max' THEN max(score, excluded.score)
            WHEN 'mean' THEN (score * found + excluded.score) / (found + 1)
            ELSE score
        END,
        found = found + ((SELECT merge FROM setting) = 'mean'),
        (carry, parent, redirects) = (
            SELECT
                iif(wins, excluded.carry, carry),
                iif(wins, excluded.parent, parent),
                iif(wins, excluded.redirects, redirects)
            FROM (SELECT excluded.score > score AND merge <> 'first' AS wins FROM setting)
        )
    WHERE state = 0 AND (
        excluded.depth_left > depth_left
        OR excluded.hops < hops
        OR excluded.kind > kind
        OR (SELECT merge = 'mean' OR merge = 'max' AND excluded.score > score FROM setting)
    );

    DELETE FROM named;
END;

CREATE TEMP VIEW add_all AS SELECT NULL AS now, NULL AS hosts, NULL AS links;
CREATE TEMP TRIGGER add_all_at_once INSTEAD OF INSERT ON add_all BEGIN
    DELETE FROM answer;
    INSERT INTO answer SELECT -waiting - dropped FROM tally;
    INSERT INTO add_links VALUES (new.hosts, 1, new.links);
    UPDATE tally SET age = age + new.links;
    INSERT INTO tidy VALUES (new.now);
    UPDATE answer SET value = value + (SELECT waiting + dropped FROM tally);
END;
