-- Set the id of the crawl unless there is one; parameter :crawl_id.
INSERT OR IGNORE INTO note (host, kind, value, until) VALUES ('', 'crawl id', :crawl_id, 9e999);
