-- Show the tables of a file of version 3 or earlier, whose reasons were texts, with the columns of later versions.
CREATE TEMP VIEW host AS
SELECT
    id, key, stage, wake, best, best_age, waiting, leased, next_time, delay_seconds, park_end, pages, relevant, failed,
    legacy_kind(parked) AS parked_kind, legacy_detail(parked) AS parked
FROM main.host;
CREATE TEMP VIEW url AS
SELECT
    host, fingerprint, state, score, age, depth_left, hops, redirects, found, tries, parent, url, carry,
    legacy_kind(reason) AS reason_kind, legacy_detail(reason) AS reason
FROM main.url;
