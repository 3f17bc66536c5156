-- Nodes whose labels or keywords hold the terms asked for (:terms, a JSON list), best first.
-- A term that only begins like the one asked for counts half, and comes after whole words; beginnings of less than four
-- letters, such as tea of teaching, do not count, but for scripts whose words are that short.

WITH hit AS (
    SELECT word.node AS node,
        max(CASE word.term WHEN asked.value THEN 1.0 ELSE 0.5 END) AS likeness,
        max(word.weight) AS weight
    FROM json_each(:terms) AS asked
    JOIN word ON word.term >= asked.value AND word.term < asked.value || char(1114111)
        AND (word.term = asked.value OR length(asked.value) >= 4 OR unicode(asked.value) >= 11904)
    GROUP BY asked.key, word.node
)
SELECT node.path, sum(hit.likeness) / json_array_length(:terms) * min(1.0, sum(hit.likeness * hit.weight)) AS score
FROM hit JOIN node ON node.id = hit.node
GROUP BY node.id
ORDER BY max(hit.likeness) DESC, score DESC, node.depth, node.urls_below DESC, node.path
LIMIT :limit
