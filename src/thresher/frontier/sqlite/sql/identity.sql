-- The id of the crawl: shared state without a host that never expires.
SELECT value FROM note WHERE host = '' AND kind = 'crawl id';
