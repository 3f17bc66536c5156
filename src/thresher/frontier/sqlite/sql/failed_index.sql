-- Speeds up failures.sql; a file of an earlier Thresher gets it when it is opened for writing.
CREATE INDEX IF NOT EXISTS url_failed ON url (host, reason_kind, reason, state) WHERE state = 3;
