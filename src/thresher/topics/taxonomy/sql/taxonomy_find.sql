-- Nodes whose labels or keywords hold the terms asked for (:terms, a JSON list), best first.
-- A term that only begins like the one asked for counts half.

WITH hit AS (
    SELECT word.node AS node,
        max(CASE word.term WHEN asked.value THEN 1.0 ELSE 0.5 END) AS likeness,
        max(word.weight) AS weight
    FROM json_each(:terms) AS asked
    JOIN word ON word.term >= asked.value AND word.term < asked.value || char(1114111)
    GROUP BY asked.key, word.node
)
SELECT node.path, sum(hit.likeness) / json_array_length(:terms) * min(1.0, sum(hit.likeness * hit.weight)) AS score
FROM hit JOIN node ON node.id = hit.node
GROUP BY node.id
ORDER BY score DESC, node.depth, node.urls_below DESC, node.path
LIMIT :limit
