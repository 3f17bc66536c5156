-- adjust_relevant (now, changes): change the number of relevant pages of hosts, after pages were judged again.
--     changes: JSON list of [host key, change]

CREATE TEMP VIEW adjust_one AS SELECT NULL AS host, NULL AS change;
CREATE TEMP TRIGGER adjust_one_host INSTEAD OF INSERT ON adjust_one BEGIN
    UPDATE host
    SET pages = pages, relevant = max(0, min(pages, relevant + new.change))  -- pages: so that the trigger fires
    WHERE id = new.host;
END;

CREATE TEMP VIEW adjust_relevant AS SELECT NULL AS now, NULL AS changes;
CREATE TEMP TRIGGER adjust_relevant_at_once INSTEAD OF INSERT ON adjust_relevant BEGIN
    DELETE FROM answer;
    INSERT INTO adjust_one
    SELECT host.id, each.value ->> 1
    FROM json_each(new.changes) AS each CROSS JOIN host ON host.key = each.value ->> 0;
END;
