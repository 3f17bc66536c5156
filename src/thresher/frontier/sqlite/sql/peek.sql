-- The best waiting URLs with scores below :below, at most :limit.
--
-- There is no index of URLs over all hosts: it would cost every link a write to a distant block. Instead the best score
-- below :below of each host is computed. No URL of the result scores less than the :limit-th of these.
WITH front AS MATERIALIZED (
    SELECT
        id,
        CASE WHEN best < :below THEN best ELSE (
            SELECT score FROM url
            WHERE url.host = host.id AND state = 0 AND score < :below
            ORDER BY score DESC LIMIT 1
        ) END AS best
    FROM host
    WHERE stage > 0
),
least AS MATERIALIZED (
    SELECT coalesce((SELECT best FROM front ORDER BY best DESC LIMIT 1 OFFSET :limit - 1), -9e999) AS score
)
SELECT url.url, host.key, state, url.score, hops, depth_left, parent, tries % 8, coalesce(reason_kind, ''),
    coalesce(reason, '')
FROM least
CROSS JOIN front ON front.best >= least.score
CROSS JOIN url ON url.host = front.id AND state = 0 AND url.score < :below AND url.score >= least.score
CROSS JOIN host ON host.id = front.id
ORDER BY url.score DESC, url.age
LIMIT :limit;
