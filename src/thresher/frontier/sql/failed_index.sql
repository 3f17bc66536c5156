-- Speeds up failures.sql; a file that an earlier Thresher made gets it when it is opened for writing.
CREATE INDEX IF NOT EXISTS url_failed ON url (host, reason, state) WHERE state = 3;
