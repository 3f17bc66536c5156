-- The id of the crawl: a note without an end about no host.
SELECT value FROM note WHERE host = '' AND kind = 'crawl id';
