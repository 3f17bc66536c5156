-- What the last program answered, as one JSON list: a single row is a single wait for the interpreter's lock.
SELECT json_group_array(value) FROM answer;
