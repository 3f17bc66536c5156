-- The result of the last program, as one JSON list: a single row means a single wait for the GIL.
SELECT json_group_array(value) FROM answer;
